import { type ApplyObjectsOptions, applyObjects, rankOf } from './apply-objects.ts'
import {
  type ApplySet,
  type ApplySetContent,
  applySetOf,
  contentOf,
  memberLabels,
  parentOf,
  readApplySet,
  uniteContents,
} from './apply-set.ts'
import { deleteFound, type FoundObject, listMembers } from './members.ts'
import { identify, type Manifest, nameOf } from './object-name.ts'
import { countDown, type DeployTarget } from './target.ts'
import { waitReady } from './wait-ready.ts'

/** Options of {@link deploy}. */
export interface DeployOptions extends Omit<ApplyObjectsOptions, 'labels'> {
  /** The project's name: what one deployment applied, the next of the same name prunes. */
  readonly project: string
  /** Whether to wait until Deployments, StatefulSets and DaemonSets are rolled out. @default true */
  readonly wait?: boolean
}

/**
 * Applies the objects of a project, deletes what an earlier deployment applied and this one does not have, and waits for rollouts.
 * CustomResourceDefinitions and Namespaces are not pruned: more than they would be lost.
 */
export async function deploy(
  target: DeployTarget,
  manifests: readonly Manifest[],
  options: DeployOptions,
): Promise<void> {
  const { project, wait = true, dryRun = false, ...rest } = options
  const left = countDown(target, options.timeout)
  const set = applySetOf(project, homeOf(manifests, options.namespace))
  const before = await readApplySet(target, set)
  let applied: FoundObject[] = []
  const apply = async (some: readonly Manifest[]) => {
    const labels = memberLabels(set)
    const more = await applyObjects(target, some, { ...rest, dryRun, labels, timeout: left() })
    applied = [...applied, ...more]
  }
  if (dryRun) await apply(manifests)
  else {
    // The parent has to exist before its members, and its namespace before the parent.
    await apply(manifests.filter(manifest => rankOf(manifest) === 0))
    const planned = contentOf(manifests.map(each => nameOf(withNamespace(each, options.namespace))))
    await writeParent(target, set, uniteContents(before ?? planned, planned))
    await apply(manifests.filter(manifest => rankOf(manifest) !== 0))
  }
  const content = contentOf(applied.map(({ object }) => nameOf(object)))
  const kept = before
    ? await prune(target, { set, applied, dryRun, content: uniteContents(before, content) })
    : []
  if (dryRun) return
  const remaining = contentOf(kept.map(({ object }) => nameOf(object)))
  await writeParent(target, set, uniteContents(content, remaining))
  if (wait) await waitReady(target, applied, left)
}

/** The namespace of the ApplySet: that of the operator itself. */
export function homeOf(manifests: readonly Manifest[], fallback: string): string {
  const placed = manifests.filter(({ metadata }) => metadata.namespace !== undefined)
  const workload = placed.find(({ kind }) => kind === 'Deployment' || kind === 'StatefulSet')
  return (workload ?? placed[0])?.metadata.namespace ?? fallback
}

function withNamespace(manifest: Manifest, namespace: string): Manifest {
  return { ...manifest, metadata: { namespace, ...manifest.metadata } }
}

async function writeParent(target: DeployTarget, set: ApplySet, content: ApplySetContent): Promise<void> {
  const quiet = { ...target, onProgress: () => {} }
  const { namespace } = set
  await applyObjects(quiet, [parentOf(set, content)], { namespace, timeout: 0, force: true })
}

interface Pruning {
  readonly set: ApplySet
  readonly content: ApplySetContent
  readonly applied: readonly FoundObject[]
  readonly dryRun: boolean
}

/** Deletes the members that were not applied. Returns those that are kept. */
async function prune(
  target: DeployTarget,
  { set, content, applied, dryRun }: Pruning,
): Promise<FoundObject[]> {
  const current = new Set(applied.map(({ object }) => identify(nameOf(object))))
  const kept: FoundObject[] = []
  for (const member of await listMembers(target, set, content)) {
    const { kind, object } = member
    const named = nameOf(object)
    if (current.has(identify(named)) || object.metadata.deletionTimestamp) continue
    if (rankOf(object) < 2) {
      kept.push(member)
      const message = `coxswain does not prune it, because what it holds would be lost; to delete it, run: kubectl delete ${kind.resource} ${object.metadata.name}`
      target.onProgress({ type: 'kept', object: named, message })
      continue
    }
    await deleteFound(target, member, { dryRun })
    target.onProgress({ type: 'pruned', object: named })
  }
  return kept
}
