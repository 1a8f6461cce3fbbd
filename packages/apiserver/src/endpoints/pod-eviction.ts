import { decodeBuiltin } from '@coxswain/api'
import * as field from '@coxswain/apimachinery/field'
import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import type { LabelSelector } from '@coxswain/apimachinery/meta'
import { labelSelectorAsSelector } from '@coxswain/apimachinery/selectors'
import {
  isConflict,
  newBadRequest,
  newForbidden,
  newInvalid,
  newNotFound,
  newTooManyRequests,
  StatusError,
  successStatus,
} from '@coxswain/apimachinery/status'
import { formatTime } from '@coxswain/apimachinery/time'
import {
  type ConditionLike,
  isPodReady,
  isTerminalPhase,
  setCondition,
  setPodCondition,
} from '@coxswain/kinds'
import { listOf, numberOf, objectOf, textOf } from '@coxswain/strategies'
import { getHeader, type WireResponse } from '@coxswain/wire'
import { builtinBodies } from '../registry/builtin-conventions.ts'
import { type Endpoint, objectKey, type Registry } from '../registry/registry.ts'
import type { ResourceContext } from '../request/context.ts'
import { statusResponse } from '../request/response.ts'
import { type DeleteOptions, parseDeleteOptions, parseWriteOptions } from '../request/write-options.ts'
import { readBody } from '../write/body.ts'
import { checkPreconditions } from '../write/checks.ts'
import { deleteObject } from '../write/delete.ts'
import type { DeletionRequest } from '../write/deletion.ts'
import { guaranteedUpdate } from '../write/guaranteed-update.ts'
import { metadataOf } from '../write/metadata.ts'
import { pipelines, runSteps, type Step, steps } from '../write/pipeline.ts'
import type { WritePorts } from '../write/ports.ts'
import { createPart, createWrite, type Write } from '../write/write.ts'

const evictionKind = { group: 'policy', version: 'v1', kind: 'Eviction' }
const retrySeconds = 10
const maxDisruptedPods = 2000

/** What evictions need of the server. */
export interface EvictionPorts extends WritePorts {
  readonly registry: Registry
}

const evictionSteps: readonly Step<Write>[] = [steps.mutate, steps.admit]

/** `pods/eviction`: deletes a Pod unless a disruption budget prevents it. */
export async function evictPod(
  ports: EvictionPorts,
  context: ResourceContext,
  endpoint: Endpoint,
): Promise<WireResponse> {
  const { name, namespace } = context.info
  const { object, literals } = readBody(context, builtinBodies, { apiVersion: 'policy/v1', kind: 'Eviction' })
  checkVersion(object)
  const eviction = decodeBuiltin(evictionKind, object, { literals }).object
  if (metadataOf(eviction).name !== name)
    throw newBadRequest('name in URL does not match name in Eviction object')
  const deleteOptions = readOptions(context, eviction)
  const { dryRun } = deleteOptions
  await ports.cache.fresh()
  const options = { ...parseWriteOptions(context, 'CreateOptions'), dryRun }
  const part = createPart(evictionKind, eviction)
  await runSteps(evictionSteps, createWrite(ports, { context, endpoint, options, operation: 'CREATE', part }))
  const stored = endpoint.resource.cache.get(objectKey(endpoint.resource, namespace, name))
  if (!stored) throw newNotFound(endpoint.resource.info, name)
  const pod = stored.parse()
  const pinned = isDisposable(pod) ? undefined : await checkBudget(ports, pod, { dryRun })
  const request = { context, endpoint, namespace, name }
  const pinnedOptions = pinned ? pinTo(deleteOptions, pod) : deleteOptions
  await removePod(ports, { ...request, options: pinnedOptions }).catch(error => {
    if (pinned && isConflict(error) && !deleteOptions.preconditions.resourceVersion)
      throw stillProcessed(pinned)
    throw error
  })
  return statusResponse(successStatus(undefined, 201), getHeader(context.request.headers, 'accept'))
}

function checkVersion({ apiVersion = '', kind = '' }: JsonObject): void {
  if (kind !== '' && kind !== 'Eviction')
    throw newBadRequest(`the kind in the data (${kind}) does not match the expected kind (Eviction)`)
  if (apiVersion === '' || apiVersion === 'policy/v1' || apiVersion === 'policy/v1beta1') return
  throw newBadRequest(
    `the API version in the data (${apiVersion}) does not match the expected API version (policy/v1)`,
  )
}

/** The options of the delete: those in the Eviction, and the request's own dry run. */
function readOptions(context: ResourceContext, eviction: JsonObject): DeleteOptions {
  const given = objectOf(eviction.deleteOptions)
  if (given.ignoreStoreReadErrorWithClusterBreakingPotential === true) {
    const path = field.Path.of('deleteOptions', 'ignoreStoreReadErrorWithClusterBreakingPotential')
    const message = 'can not be set for pod eviction, try after removing the option'
    throw newInvalid(evictionKind, context.info.name, [field.invalid(path, true, message)])
  }
  const { dryRun } = parseWriteOptions(context, 'CreateOptions')
  const options = parseDeleteOptions(given)
  return dryRun ? { ...options, dryRun } : options
}

/** Evicting a Pod that has finished, is pending or is terminating disrupts nothing. */
function isDisposable(pod: JsonObject): boolean {
  const phase = textOf(objectOf(pod.status).phase)
  return isTerminalPhase(phase) || phase === 'Pending' || metadataOf(pod).deletionTimestamp !== undefined
}

function pinTo(options: DeleteOptions, pod: JsonObject): DeleteOptions {
  const resourceVersion = metadataOf(pod).resourceVersion!
  return { ...options, preconditions: { ...options.preconditions, resourceVersion } }
}

/**
 * Records the disruption in the budget that covers the Pod. Returns the budget's name when nothing was recorded
 * because the Pod is unhealthy: it must then still be unhealthy when it is deleted. Throws when the budget is exhausted.
 */
async function checkBudget(
  ports: EvictionPorts,
  pod: JsonObject,
  { dryRun }: { readonly dryRun: boolean },
): Promise<string | undefined> {
  const budgets = ports.registry.find('policy', 'v1', 'poddisruptionbudgets')
  if (!budgets) return undefined
  const found = budgetsOf(budgets, pod)
  if (found.length > 1) {
    const message =
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.'
    throw new StatusError({ ...successStatus(), status: 'Failure', message, code: 500 })
  }
  const [budget] = found
  if (!budget) return undefined
  const { name = '' } = metadataOf(budget)
  if (!isPodReady(pod)) {
    const { unhealthyPodEvictionPolicy } = objectOf(budget.spec)
    const { currentHealthy, desiredHealthy } = objectOf(budget.status)
    const enough = numberOf(currentHealthy) >= numberOf(desiredHealthy) && numberOf(desiredHealthy) > 0
    if (unhealthyPodEvictionPolicy === 'AlwaysAllow' || enough) return name
  }
  await guaranteedUpdate(ports, {
    endpoint: budgets,
    namespace: metadataOf(pod).namespace!,
    name,
    dryRun,
    conditional: () => false,
    change: async current => {
      takeDisruption(current, metadataOf(pod).name!, formatTime(ports.env.clock.now()))
      return { type: 'put', object: current }
    },
  })
  return undefined
}

function budgetsOf({ resource }: Endpoint, pod: JsonObject): JsonObject[] {
  const { labels, namespace } = metadataOf(pod)
  return resource.cache
    .list()
    .filter(stored => stored.namespace === namespace)
    .map(stored => stored.parse())
    .filter(budget => selects(objectOf(budget.spec).selector, labels))
}

function selects(selector: unknown, labels: Readonly<Record<string, string>> | undefined): boolean {
  if (!isObject(selector)) return false
  try {
    return labelSelectorAsSelector(selector as LabelSelector).matches(labels)
  } catch {
    return false
  }
}

/** Decrements the allowed disruptions and records the Pod, so that the budget's controller does not count it as healthy. */
function takeDisruption(budget: JsonObject, podName: string, now: string): void {
  const status = objectOf(budget.status)
  const { name = '', generation = 0 } = metadataOf(budget)
  const resource = { group: 'policy', resource: 'poddisruptionbudget' }
  if (numberOf(status.observedGeneration) < generation) throw stillProcessed(name)
  const allowed = numberOf(status.disruptionsAllowed)
  if (allowed < 0) throw newForbidden(resource, name, 'pdb disruptions allowed is negative')
  const disrupted = objectOf(status.disruptedPods)
  if (Object.keys(disrupted).length > maxDisruptedPods) {
    const message = 'DisruptedPods map too big - too many evictions not confirmed by PDB controller'
    throw newForbidden(resource, name, message)
  }
  if (allowed === 0) throw refusal(refusalText(name, status), 0)
  status.disruptionsAllowed = allowed - 1
  if (allowed === 1) markExhausted(budget, status, now)
  status.disruptedPods = { ...disrupted, [podName]: now }
  budget.status = status
}

function markExhausted(budget: JsonObject, status: JsonObject, now: string): void {
  status.conditions = setCondition(
    status.conditions as ConditionLike[] | undefined,
    {
      type: 'DisruptionAllowed',
      status: 'False',
      observedGeneration: numberOf(status.observedGeneration) || metadataOf(budget).generation,
      lastTransitionTime: now,
      reason: 'InsufficientPods',
      message: '',
    } as ConditionLike,
  )
}

const violation = "Cannot evict pod as it would violate the pod's disruption budget."

function refusal(cause: string, retryAfterSeconds: number): StatusError {
  const { status } = newTooManyRequests(violation, retryAfterSeconds)
  const { retryAfterSeconds: _, ...details } = status.details ?? {}
  const causes = [{ reason: 'DisruptionBudget' as never, message: cause }]
  return new StatusError({
    ...status,
    details: { ...details, causes, ...(retryAfterSeconds > 0 && { retryAfterSeconds }) },
  })
}

function stillProcessed(name: string): StatusError {
  return refusal(`The disruption budget ${name} is still being processed by the server.`, retrySeconds)
}

function refusalText(name: string, status: JsonObject): string {
  const condition = listOf(status.conditions).find(({ type }) => type === 'DisruptionAllowed')
  const current = numberOf(status.currentHealthy)
  const desired = numberOf(status.desiredHealthy)
  const message = condition?.status === 'False' ? textOf(condition.message) : ''
  if (message !== '' && condition?.reason === 'SyncFailed')
    return `The disruption budget ${name} does not allow evicting pods currently because it failed sync: ${message}`
  if (current <= desired)
    return `The disruption budget ${name} needs ${desired} healthy pods and has ${current} currently`
  const why = message === '' ? '' : ` (${textOf(condition?.reason)}): ${message}`
  return `The disruption budget ${name} does not allow evicting pods currently${why}`
}

/** Sets the Pod's DisruptionTarget condition, then deletes it. */
async function removePod(ports: EvictionPorts, request: DeletionRequest): Promise<void> {
  const { endpoint, name, namespace, options } = request
  let preconditions = options.preconditions
  if (!options.dryRun) {
    const condition = {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'EvictionByEvictionAPI',
      message: 'Eviction API: evicting',
    } as const
    const marked = await guaranteedUpdate(ports, {
      endpoint,
      namespace,
      name,
      dryRun: false,
      conditional: () => Boolean(options.preconditions.resourceVersion),
      change: async pod => {
        checkPreconditions(endpoint.resource, pod, options.preconditions)
        const status = objectOf(pod.status)
        setPodCondition(status, condition, formatTime(ports.env.clock.now()))
        pod.status = status
        return { type: 'put', object: pod }
      },
    })
    if (preconditions.resourceVersion && 'revision' in marked)
      preconditions = { ...preconditions, resourceVersion: String(marked.revision) }
  }
  const admitted = { ...request, options: { ...options, preconditions } }
  await deleteObject(ports, admitted, pipelines.deleteAdmitted)
}
