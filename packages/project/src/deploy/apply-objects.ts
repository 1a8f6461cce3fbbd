import { isConflict, isNotFound, isStatusError } from '@coxswain/apimachinery/status'
import { isMachineryError } from '@coxswain/apimachinery/wire-format'
import type { DynamicInput, DynamicKind, DynamicObject } from '@coxswain/client'
import { ProjectError } from '../errors.ts'
import { definitionOf, waitEstablished } from './definitions.ts'
import type { FoundObject } from './members.ts'
import { formatName, type Manifest, nameOf } from './object-name.ts'
import { callOptions, countDown, type DeployTarget } from './target.ts'

/** The name under which the server records what is applied. */
export const fieldManager = 'coxswain'

/** Options of {@link applyObjects}. */
export interface ApplyObjectsOptions {
  /** The namespace of namespaced objects that name none. */
  readonly namespace: string
  /** Milliseconds that the server may take to serve the kinds of CustomResourceDefinitions. */
  readonly timeout: number
  /** Takes over fields that other managers own. @default false */
  readonly force?: boolean
  /** The server validates, and stores nothing. @default false */
  readonly dryRun?: boolean
  /** Labels that every object gets. */
  readonly labels?: Readonly<Record<string, string>>
}

/** What is applied before the rest: others need it. */
const firstKinds = ['Namespace', 'CustomResourceDefinition.apiextensions.k8s.io']

/** The position of an object among what is applied; those of equal rank stay in their order. */
export function rankOf(manifest: Manifest | DynamicObject): number {
  const { group, kind } = nameOf(manifest)
  const index = firstKinds.indexOf(group === '' ? kind : `${kind}.${group}`)
  return index < 0 ? firstKinds.length : index
}

/**
 * Applies manifests server-side: namespaces, then CustomResourceDefinitions, which are waited for, then the others in their order. Stops
 * at the first object that the server rejects, with `NotApplied`.
 */
export async function applyObjects(
  target: DeployTarget,
  manifests: readonly Manifest[],
  options: ApplyObjectsOptions,
): Promise<FoundObject[]> {
  const left = countDown(target, options.timeout)
  const sorted = manifests.toSorted((a, b) => rankOf(a) - rankOf(b))
  const definitions = sorted.filter(manifest => definitionOf(manifest) !== undefined)
  const applied: FoundObject[] = []
  let areWaitedFor = options.dryRun === true
  for (const manifest of sorted) {
    if (!areWaitedFor && rankOf(manifest) === firstKinds.length) {
      await waitEstablished(target, definitions, left)
      areWaitedFor = true
    }
    const one = options.dryRun
      ? await dryRunOne(target, { manifest, all: sorted }, options)
      : await applyServed(target, { manifest, definitions, left }, options)
    if (!one) continue
    applied.push(one)
    target.onProgress({ type: 'applied', object: nameOf(one.object) })
  }
  if (!areWaitedFor) await waitEstablished(target, definitions, left)
  return applied
}

interface Served {
  readonly manifest: Manifest
  readonly definitions: readonly Manifest[]
  readonly left: () => number
}

/** How long to wait before an object is tried again whose kind is about to be served, in milliseconds. */
const pause = 250

/** An object of a kind that was defined a moment ago may be too early: discovery and handlers follow the definition. */
async function applyServed(
  target: DeployTarget,
  { manifest, definitions, left }: Served,
  options: ApplyObjectsOptions,
): Promise<FoundObject> {
  const isNew = definitions.some(each => isDefinedBy(manifest, each))
  for (;;) {
    try {
      return await applyOne(target, manifest, options)
    } catch (error) {
      const isEarly = isMachineryError(error, 'NoMatch') || isNotFound(error)
      if (!isNew || !isEarly || left() === 0) throw explainRefusal(manifest, error)
      target.discovery.invalidate()
      await target.env.clock.sleep(pause, callOptions(target))
    }
  }
}

async function applyOne(
  target: DeployTarget,
  manifest: Manifest,
  options: ApplyObjectsOptions,
): Promise<FoundObject> {
  const { namespace, force = false, dryRun = false, labels } = options
  const call = callOptions(target)
  const kind = await target.discovery.kindOf(manifest.apiVersion, manifest.kind, call)
  const placed = place(manifest, kind, { namespace, labels })
  const object = await target.client.apply(kind, placed, { ...call, fieldManager, force, dryRun })
  return { kind, object }
}

interface Placement {
  readonly namespace: string
  readonly labels: Readonly<Record<string, string>> | undefined
}

function place(manifest: Manifest, kind: DynamicKind, { namespace, labels }: Placement): DynamicInput {
  const { metadata } = manifest
  return {
    ...manifest,
    metadata: {
      ...metadata,
      ...(kind.namespaced && { namespace: metadata.namespace ?? namespace }),
      ...(labels && { labels: { ...metadata.labels, ...labels } }),
    },
  }
}

/** Undefined when the object needs a namespace or kind that a dry run does not create. */
async function dryRunOne(
  target: DeployTarget,
  { manifest, all }: { readonly manifest: Manifest; readonly all: readonly Manifest[] },
  options: ApplyObjectsOptions,
): Promise<FoundObject | undefined> {
  try {
    return await applyOne(target, manifest, options)
  } catch (error) {
    const needed = isMachineryError(error, 'NoMatch')
      ? all.find(each => isDefinedBy(manifest, each))
      : isNotFound(error) && all.find(each => isNamespaceOf(manifest, each, options.namespace))
    if (!needed) throw explainRefusal(manifest, error)
    const message = `${formatName(nameOf(needed))} does not exist yet`
    target.onProgress({ type: 'unchecked', object: nameOf(manifest), message })
    return undefined
  }
}

function isDefinedBy(manifest: Manifest, definition: Manifest): boolean {
  const defined = definitionOf(definition)
  const { group, kind } = nameOf(manifest)
  return defined?.group === group && defined.kind === kind
}

function isNamespaceOf(
  { metadata }: Manifest,
  { kind, metadata: { name } }: Manifest,
  other: string,
): boolean {
  return kind === 'Namespace' && name === (metadata.namespace ?? other)
}

/** The server's refusal, with the object and what to do. */
function explainRefusal(manifest: Manifest, error: unknown): unknown {
  if (!isStatusError(error) && !isMachineryError(error, 'NoMatch')) return error
  const remedy = isConflict(error) ? '; --force-conflicts takes these fields over' : ''
  const text = `${formatName(nameOf(manifest))}: ${error.message}${remedy}`
  return new ProjectError('NotApplied', text, { cause: error })
}
