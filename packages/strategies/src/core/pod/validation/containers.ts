import type { Container, ContainerPort, ContainerResizePolicy, PodSpec } from '@coxswain/api/core/v1'
import * as field from '@coxswain/apimachinery/field'
import { isObject } from '@coxswain/apimachinery/json'
import { isValidPortName, isValidPortNum } from '@coxswain/apimachinery/validation'
import type { Decoded } from '../../../decoded.ts'
import {
  type Findings,
  invalidBecause,
  numberOf,
  validateChoice,
  validateDNSLabel,
} from '../../../shared/reading.ts'
import { validateEnv } from './env.ts'
import { validateMounts } from './mounts.ts'
import { type HandlerContext, handlerContextOf, validateLifecycle, validateProbes } from './probes.ts'
import { validateContainerResources } from './resources.ts'
import { validateContainerSecurity } from './security.ts'
import { type KnownVolumes, validatePullPolicy } from './volumes.ts'

/** What a container needs to know of its pod. */
export interface ContainerContext extends HandlerContext {
  readonly volumes: KnownVolumes
  /** Names of the pod's resource claims. */
  readonly claims: ReadonlySet<string>
  readonly restartPolicy: string
  readonly hostUsers: boolean
}

export function containerContextOf(
  spec: Decoded<PodSpec>,
  volumes: KnownVolumes,
  claims: ReadonlySet<string>,
): ContainerContext {
  return {
    ...handlerContextOf(spec),
    volumes,
    claims,
    restartPolicy: spec.restartPolicy ?? '',
    hostUsers: spec.hostUsers !== false,
  }
}

export function* validateContainers(
  containers: readonly Decoded<Container>[],
  path: field.Path,
  context: ContainerContext,
): Findings {
  if (containers.length === 0) {
    yield field.required(path)
    return
  }
  const names = new Set<string>()
  for (const [index, container] of containers.entries()) {
    const at = path.index(index)
    yield* validateContainer(container, at, context)
    yield* claimName(names, container, at)
    if (container.lifecycle) yield* validateLifecycle(container.lifecycle, at.child('lifecycle'), context)
    yield* validateProbes(container, at, context)
    yield* validateRestartRules(container, at)
  }
  yield* validateHostPorts(containers, path)
}

function* claimName(names: Set<string>, container: Decoded<Container>, path: field.Path): Findings {
  const name = container.name ?? ''
  if (names.has(name)) yield field.duplicate(path.child('name'), name)
  names.add(name)
}

/** They run one after the other, before the containers; those that restart always run beside them. */
export function* validateInitContainers(
  spec: Decoded<PodSpec>,
  path: field.Path,
  context: ContainerContext,
): Findings {
  const names = new Set((spec.containers ?? []).map(({ name }) => name ?? ''))
  for (const [index, container] of (spec.initContainers ?? []).entries()) {
    const at = path.index(index)
    const isSidecar = container.restartPolicy === 'Always'
    yield* validateContainer(container, at, context)
    if (container.restartPolicy !== undefined || (container.restartPolicyRules ?? []).length > 0)
      yield* validateRestartRules(container, at)
    if (names.has(container.name ?? '')) yield field.duplicate(at.child('name'), container.name ?? '')
    else if ((container.name ?? '') !== '') names.add(container.name ?? '')
    yield* validateHostPorts([container], path)
    if (isSidecar) {
      if (container.lifecycle) yield* validateLifecycle(container.lifecycle, at.child('lifecycle'), context)
      yield* validateProbes(container, at, context)
    } else {
      for (const member of ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const) {
        if (container[member] !== undefined) {
          const message = 'may not be set for init containers without restartPolicy=Always'
          yield field.forbidden(at.child(member), message)
        }
      }
      for (const [position, policy] of (container.resizePolicy ?? []).entries()) {
        if (policy.restartPolicy !== 'RestartContainer') continue
        const message = "must not be set to 'RestartContainer' for non-sidecar initContainers"
        yield field.invalid(
          at.child('resizePolicy').index(position).child('restartPolicy'),
          policy.restartPolicy,
          message,
        )
      }
    }
  }
}

/** What an ephemeral container has no use for. */
const notEphemeral = [
  ...(['ports', 'resources', 'livenessProbe', 'readinessProbe', 'startupProbe', 'lifecycle'] as const),
  ...(['resizePolicy', 'restartPolicy', 'restartPolicyRules'] as const),
] as const

export function* validateEphemeralContainers(
  spec: Decoded<PodSpec>,
  path: field.Path,
  context: ContainerContext,
): Findings {
  const lasting = new Set(
    [...(spec.containers ?? []), ...(spec.initContainers ?? [])].map(({ name }) => name ?? ''),
  )
  const names = new Set(lasting)
  for (const [index, container] of (spec.ephemeralContainers ?? []).entries()) {
    const at = path.index(index)
    yield* validateContainer(container, at, context)
    yield* validateImageText(container, at)
    yield* claimName(names, container, at)
    const target = container.targetContainerName ?? ''
    if (target !== '' && !lasting.has(target)) yield field.notFound(at.child('targetContainerName'), target)
    const message = 'cannot be set for an Ephemeral Container'
    for (const member of notEphemeral)
      if (isSet(container[member])) yield field.forbidden(at.child(member), message)
    for (const [position, mount] of (container.volumeMounts ?? []).entries()) {
      for (const member of ['subPath', 'subPathExpr'] as const) {
        if ((mount[member] ?? '') !== '')
          yield field.forbidden(at.child('volumeMounts').index(position).child(member), message)
      }
    }
  }
}

function isSet(value: unknown): boolean {
  if (isObject(value)) return Object.keys(value).length > 0
  return value !== undefined && value !== null
}

/** Spaces around an image are tolerated in templates, never in pods. */
export function* validateImageText(container: Decoded<Container>, path: field.Path): Findings {
  const image = container.image ?? ''
  if (image.trim() !== image)
    yield field.invalid(path.child('image'), image, 'must not have leading or trailing whitespace')
}

const messagePolicies = ['File', 'FallbackToLogsOnError']

/** What holds for containers of every kind. */
function* validateContainer(
  container: Decoded<Container>,
  path: field.Path,
  context: ContainerContext,
): Findings {
  const name = container.name ?? ''
  if (name === '') yield field.required(path.child('name'))
  else yield* validateDNSLabel(name, path.child('name'))
  if ((container.image ?? '') === '') yield field.required(path.child('image'))
  const policyPath = path.child('terminationMessagePolicy')
  yield* validateChoice(container.terminationMessagePolicy, messagePolicies, policyPath)
  yield* validatePorts(container.ports ?? [], path.child('ports'))
  yield* validateEnv(container, path)
  yield* validateMounts(container, context.volumes, path)
  yield* validatePullPolicy(container.imagePullPolicy, path.child('imagePullPolicy'))
  yield* validateContainerResources(container.resources ?? {}, context.claims, path.child('resources'))
  yield* validateResizePolicy(container.resizePolicy ?? [], path.child('resizePolicy'), context)
  yield* validateContainerSecurity(
    container.securityContext,
    path.child('securityContext'),
    context.hostUsers,
  )
}

function* validatePorts(ports: readonly Decoded<ContainerPort>[], path: field.Path): Findings {
  const names = new Set<string>()
  for (const [index, port] of ports.entries()) {
    const at = path.index(index)
    const name = port.name ?? ''
    if (name !== '') {
      const messages = isValidPortName(name)
      if (messages.length > 0) yield* invalidBecause(at.child('name'), name, messages)
      else if (names.has(name)) yield field.duplicate(at.child('name'), name)
      else names.add(name)
    }
    if (numberOf(port.containerPort) === 0) yield field.required(at.child('containerPort'))
    for (const member of ['containerPort', 'hostPort'] as const) {
      const number = numberOf(port[member])
      if (number !== 0) yield* invalidBecause(at.child(member), number, isValidPortNum(number))
    }
    yield* validateChoice(port.protocol, ['SCTP', 'TCP', 'UDP'], at.child('protocol'))
  }
}

/** No two ports of containers that run together may want the same port of the host. */
function* validateHostPorts(containers: readonly Decoded<Container>[], path: field.Path): Findings {
  const seen = new Set<string>()
  for (const [index, container] of containers.entries()) {
    for (const [position, port] of (container.ports ?? []).entries()) {
      const number = numberOf(port.hostPort)
      if (number === 0) continue
      const text = `${port.protocol ?? ''}/${port.hostIP ?? ''}/${number}`
      if (seen.has(text))
        yield field.duplicate(path.index(index).child('ports').index(position).child('hostPort'), text)
      seen.add(text)
    }
  }
}

const resizePolicies = ['NotRequired', 'RestartContainer']

function* validateResizePolicy(
  policies: readonly Decoded<ContainerResizePolicy>[],
  path: field.Path,
  { restartPolicy }: ContainerContext,
): Findings {
  const seen = new Set<string>()
  for (const [index, policy] of policies.entries()) {
    const resource = policy.resourceName ?? ''
    if (seen.has(resource)) yield field.duplicate(path.index(index), resource)
    seen.add(resource)
    yield* validateChoice(resource, ['cpu', 'memory'], path)
    yield* validateChoice(policy.restartPolicy, resizePolicies, path)
    if (restartPolicy === 'Never' && policy.restartPolicy !== 'NotRequired') {
      const message = "must be 'NotRequired' when pod `restartPolicy` is 'Never'"
      yield field.invalid(path, policy.restartPolicy ?? '', message)
    }
  }
}

const maxRules = 20
const maxExitCodes = 255

/** When a container restarts by itself, apart from its pod's policy. */
function* validateRestartRules(container: Decoded<Container>, path: field.Path): Findings {
  const rules = container.restartPolicyRules ?? []
  const at = path.child('restartPolicy')
  if (container.restartPolicy === undefined) {
    if (rules.length === 0) return
    yield field.required(at, 'must specify restartPolicy when restart rules are used')
  } else if (!['Always', 'Never', 'OnFailure'].includes(container.restartPolicy ?? '')) {
    yield field.notSupported(at, container.restartPolicy, ['Always', 'Never', 'OnFailure'])
  }
  const rulesPath = path.child('restartPolicyRules')
  if (rules.length > maxRules) yield field.tooMany(rulesPath, rules.length, maxRules)
  for (const [index, rule] of rules.entries()) {
    const rulePath = rulesPath.index(index)
    const actions = ['Restart', 'RestartAllContainers']
    if (!actions.includes(rule.action ?? ''))
      yield field.notSupported(rulePath.child('action'), rule.action ?? '', actions)
    if (!rule.exitCodes) {
      yield field.required(rulePath.child('exitCodes'), 'must be specified')
      continue
    }
    const { operator, values } = rule.exitCodes
    const codesPath = rulePath.child('exitCodes')
    if (operator !== 'In' && operator !== 'NotIn')
      yield field.notSupported(codesPath.child('operator'), operator ?? '', ['In', 'NotIn'])
    if ((values ?? []).length > maxExitCodes)
      yield field.tooMany(codesPath.child('values'), (values ?? []).length, maxExitCodes)
  }
}
