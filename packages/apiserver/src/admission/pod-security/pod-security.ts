import type { JsonObject } from '@coxswain/apimachinery/json'
import { newForbidden } from '@coxswain/apimachinery/status'
import { byName, listOf, objectOf, textOf } from '@coxswain/strategies'
import type { AdmissionPlugin } from '../admission.ts'
import type { Attributes } from '../attributes.ts'
import { type Level, levels, violationsOf } from './checks.ts'
import { validateNamespace } from './namespace-labels.ts'

const prefix = 'pod-security.kubernetes.io/'

/** The level and version of a namespace for one mode; the version only appears in messages. */
interface Standard {
  readonly level: Level
  readonly version: string
}

/** The defaults of namespaces without labels, by mode (`enforce`, `enforce-version`, ...), and the exemptions. */
export interface PodSecurityConfiguration {
  readonly defaults?: Readonly<Record<string, string>>
  readonly exemptions?: {
    readonly usernames?: readonly string[]
    readonly namespaces?: readonly string[]
    readonly runtimeClasses?: readonly string[]
  }
}

/**
 * Rejects Pods that violate the `enforce` level of their namespace, and warns authors of Pods and workloads about
 * violations of its `warn` level.
 */
export function createPodSecurity(configuration: PodSecurityConfiguration = {}): AdmissionPlugin {
  const { defaults = {}, exemptions = {} } = configuration
  const presets = Object.fromEntries(Object.entries(defaults).map(([key, value]) => [prefix + key, value]))
  return {
    name: 'PodSecurity',
    needs: 'pods',
    validate(attributes) {
      const { operation, object, user, namespace } = attributes
      if ((operation !== 'CREATE' && operation !== 'UPDATE') || !object) return
      if (isNamespaceWrite(attributes)) validateNamespace(attributes, object)
      const podSpec = podSpecOf(attributes, object)
      if (!podSpec || exemptions.namespaces?.includes(namespace)) return
      if (exemptions.usernames?.includes(user.name)) return
      if (exemptions.runtimeClasses?.includes(textOf(podSpec.spec.runtimeClassName))) return
      evaluate(attributes, object, podSpec, { ...presets, ...labelsOf(attributes) })
    },
  }
}

export const podSecurity: AdmissionPlugin = createPodSecurity()

function evaluate(
  ...[attributes, object, podSpec, labels]: [
    Attributes,
    JsonObject,
    PodParts,
    Readonly<Record<string, string>>,
  ]
): void {
  const enforced = standardOf(labels, 'enforce', 'restricted')
  const warned = standardOf(labels, 'warn', 'privileged')
  const audited = standardOf(labels, 'audit', 'privileged')
  if ([enforced, warned, audited].every(({ level }) => level === 'privileged')) return
  const isPod = attributes.resource.info.resource === 'pods'
  if (isPod && attributes.oldObject && !hasNewContainers(object, attributes.oldObject)) return
  const { metadata, spec } = podSpec
  if (isPod) {
    const forbidden = describe(enforced, metadata, spec)
    if (forbidden !== undefined) {
      const name = textOf(objectOf(object.metadata).name)
      throw newForbidden(attributes.resource.info, name, `violates PodSecurity ${forbidden}`)
    }
  }
  const discouraged = describe(warned, metadata, spec)
  if (discouraged !== undefined) attributes.warn?.(`would violate PodSecurity ${discouraged}`)
  const noted = describe(audited, metadata, spec)
  if (noted !== undefined)
    attributes.annotate?.(`${prefix}audit-violations`, `would violate PodSecurity ${noted}`)
}

function labelsOf({ server, namespace }: Attributes): Readonly<Record<string, string>> {
  const { cache } = server.registry.find('', 'v1', 'namespaces')!.resource
  const stored = cache.get(cache.prefix + namespace)
  return stored ? stored.labels : {}
}

/** An unknown level counts as `otherwise`; without a label everything is allowed. */
function standardOf(
  labels: Readonly<Record<string, string>>,
  mode: 'audit' | 'enforce' | 'warn',
  otherwise: Level,
): Standard {
  const level = labels[prefix + mode]
  const version = labels[`${prefix}${mode}-version`] ?? 'latest'
  if (level === undefined) return { level: 'privileged', version }
  return { level: (levels as readonly string[]).includes(level) ? (level as Level) : otherwise, version }
}

function describe({ level, version }: Standard, metadata: JsonObject, spec: JsonObject): string | undefined {
  const violations = violationsOf(level, metadata, spec)
  if (violations.length === 0) return undefined
  const texts = violations.map(({ reason, detail }) => (detail === '' ? reason : `${reason} (${detail})`))
  return `"${level}:${version}": ${texts.join(', ')}`
}

interface PodParts {
  readonly metadata: JsonObject
  readonly spec: JsonObject
}

const workloads = new Set([
  ...['/replicationcontrollers', 'apps/replicasets', 'apps/deployments', 'apps/statefulsets'],
  ...['apps/daemonsets', 'batch/jobs'],
])

/** The Pod being written, or the Pod template of the workload being written; undefined for everything else. */
function podSpecOf({ resource, subresource }: Attributes, object: JsonObject): PodParts | undefined {
  const name = `${resource.info.group}/${resource.info.resource}`
  if (name === '/pods') {
    if (subresource !== '' && subresource !== 'ephemeralcontainers' && subresource !== 'resize')
      return undefined
    return partsOf(object)
  }
  if (subresource !== '') return undefined
  if (name === '/podtemplates') return partsOf(objectOf(object.template))
  const spec = objectOf(object.spec)
  if (name === 'batch/cronjobs') return partsOf(objectOf(objectOf(objectOf(spec.jobTemplate).spec).template))
  return workloads.has(name) ? partsOf(objectOf(spec.template)) : undefined
}

const partsOf = ({ metadata, spec }: JsonObject): PodParts => ({
  metadata: objectOf(metadata),
  spec: objectOf(spec),
})

function isNamespaceWrite({ resource, subresource }: Attributes): boolean {
  const { group, resource: name } = resource.info
  return group === '' && name === 'namespaces' && subresource === ''
}

/** Whether an update brings new containers or images; nothing else that is checked can change. */
function hasNewContainers(object: JsonObject, old: JsonObject): boolean {
  return ['containers', 'initContainers', 'ephemeralContainers'].some(kind => {
    const before = listOf(objectOf(old.spec)[kind])
    const now = listOf(objectOf(object.spec)[kind])
    if (kind !== 'ephemeralContainers' && now.length !== before.length) return true
    const known = byName(before)
    return now.some(({ name, image }) => known.get(name)?.image !== image)
  })
}
