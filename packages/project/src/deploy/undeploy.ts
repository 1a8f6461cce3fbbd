import { isNotFound } from '@coxswain/apimachinery/status'
import { isMachineryError } from '@coxswain/apimachinery/wire-format'
import { type DynamicObject, isClientError, waitFor } from '@coxswain/client'
import { ProjectError } from '../errors.ts'
import { rankOf } from './apply-objects.ts'
import { applySetOf, parentOf, readApplySet } from './apply-set.ts'
import { definitionOf } from './definitions.ts'
import { homeOf } from './deploy.ts'
import { deleteFound, type FoundObject, listMembers } from './members.ts'
import { formatName, identify, type Manifest, nameOf } from './object-name.ts'
import { callOptions, countDown, type DeployTarget } from './target.ts'

/** Objects of a kind whose definition is deleted. */
export interface LostObjects {
  /** `greetings.example.com`. */
  readonly resource: string
  readonly count: number
}

/** What is deleted, in this order. */
export interface Removal {
  readonly objects: readonly FoundObject[]
  /** The custom objects that are deleted along with it. */
  readonly lost: readonly LostObjects[]
}

/** Options of {@link planRemoval}. */
export interface RemovalOptions {
  /** The namespace of namespaced objects that name none. */
  readonly namespace: string
  /** With the name of a project, also what earlier deployments of it applied. */
  readonly project?: string
}

/**
 * Finds those of the manifests that exist, and what earlier deployments applied. CustomResourceDefinitions come first, while the
 * operator still runs and can remove its finalizers; then the others, against the order in which they are applied.
 */
export async function planRemoval(
  target: DeployTarget,
  manifests: readonly Manifest[],
  { namespace, project }: RemovalOptions,
): Promise<Removal> {
  const found = new Map<string, FoundObject>()
  const add = (each: FoundObject | undefined) => each && found.set(identify(nameOf(each.object)), each)
  if (project !== undefined) {
    const set = applySetOf(project, homeOf(manifests, namespace))
    const content = await readApplySet(target, set)
    if (content) {
      for (const member of await listMembers(target, set, content)) add(member)
      add(await findObject(target, parentOf(set, content), namespace))
    }
  }
  for (const manifest of manifests) add(await findObject(target, manifest, namespace))
  const rank = ({ object }: FoundObject) => (rankOf(object) === 1 ? 0 : 3 - rankOf(object))
  const objects = [...found.values()].toSorted((a, b) => rank(a) - rank(b))
  return { objects, lost: await countLost(target, objects) }
}

async function findObject(
  target: DeployTarget,
  { apiVersion, kind: name, metadata }: Manifest,
  namespace: string,
): Promise<FoundObject | undefined> {
  const call = callOptions(target)
  try {
    const kind = await target.discovery.kindOf(apiVersion, name, call)
    const key = {
      name: metadata.name,
      ...(kind.namespaced && { namespace: metadata.namespace ?? namespace }),
    }
    const object = await target.client.get(kind, key, call)
    return object && { kind, object }
  } catch (error) {
    if (isMachineryError(error, 'NoMatch')) return undefined
    throw error
  }
}

async function countLost(target: DeployTarget, objects: readonly FoundObject[]): Promise<LostObjects[]> {
  const lost: LostObjects[] = []
  for (const { object } of objects) {
    const instances = await instancesOf(target, object)
    if (instances.length > 0) lost.push({ resource: object.metadata.name, count: instances.length })
  }
  return lost
}

/** The objects of the kind that a CustomResourceDefinition defines. */
async function instancesOf(target: DeployTarget, definition: DynamicObject): Promise<DynamicObject[]> {
  const defined = definitionOf(definition as unknown as Manifest)
  if (!defined) return []
  const call = callOptions(target)
  const { versions = [] } = definition.spec as { versions?: readonly { name: string; served?: boolean }[] }
  const version = versions.find(({ served }) => served)?.name
  if (version === undefined) return []
  try {
    const kind = await target.discovery.kindOf(`${defined.group}/${version}`, defined.kind, call)
    return await Array.fromAsync(target.client.listAll(kind, call))
  } catch (error) {
    if (isMachineryError(error, 'NoMatch')) return []
    throw error
  }
}

/** Options of {@link remove}. */
export interface RemoveOptions {
  /** Milliseconds. */
  readonly timeout: number
  /** Whether to wait until the objects are deleted. @default true */
  readonly wait?: boolean
  /** @default false */
  readonly dryRun?: boolean
}

/** Deletes what was planned. Rejects with `NotDeleted` when something stays, and says what holds it. */
export async function remove(
  target: DeployTarget,
  { objects }: Removal,
  { timeout, wait = true, dryRun = false }: RemoveOptions,
): Promise<void> {
  const left = countDown(target, timeout)
  const isDefinition = ({ object }: FoundObject) => rankOf(object) === 1
  const steps = [objects.filter(isDefinition), objects.filter(each => !isDefinition(each))]
  for (const step of steps) {
    for (const found of step) {
      await deleteFound(target, found, { dryRun })
      target.onProgress({ type: 'deleted', object: nameOf(found.object) })
    }
    if (wait && !dryRun) for (const found of step) await waitDeleted(target, found, left)
  }
}

async function waitDeleted(target: DeployTarget, found: FoundObject, left: () => number): Promise<void> {
  const { kind, object } = found
  const { name, namespace, uid } = object.metadata
  const what = { kind, key: { name, ...(namespace && { namespace }) } }
  let last = object
  const look = (current: DynamicObject | undefined): boolean => {
    if (current?.metadata.uid !== uid) return true
    last = current!
    return false
  }
  try {
    await waitFor(target.client, target.env, what, look, { ...callOptions(target), timeout: left() })
  } catch (error) {
    if (isNotFound(error)) return // its kind is no longer served
    if (!isClientError(error, 'WaitTimeout')) throw error
    const holders = [...finalizersOf(last), ...(await instancesOf(target, last)).flatMap(finalizersOf)]
    const conditions = terminationMessages(last)
    const why = [...holders.slice(0, mostHolders), ...conditions]
    const text = why.length === 0 ? 'the server has not deleted it yet' : why.join('; ')
    throw new ProjectError('NotDeleted', `${formatName(nameOf(object))} is still terminating: ${text}`, {
      cause: error,
    })
  }
}

/** How many objects with finalizers are named. */
const mostHolders = 5

function finalizersOf(object: DynamicObject): string[] {
  const { finalizers = [] } = object.metadata
  if (finalizers.length === 0) return []
  return [`${formatName(nameOf(object))} has the finalizers ${finalizers.join(', ')}`]
}

/** What a Namespace or a CustomResourceDefinition says about its deletion. */
function terminationMessages({ status }: DynamicObject): string[] {
  const { conditions = [] } = (status ?? {}) as {
    conditions?: readonly { type: string; status: string; message?: string }[]
  }
  return conditions
    .filter(({ type, status: value }) => value === 'True' && /^(Namespace|Terminating)/.test(type))
    .flatMap(({ message }) => message ?? [])
}
