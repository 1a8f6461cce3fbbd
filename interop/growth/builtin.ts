import assert from 'node:assert/strict'
import { builtinTargets } from './samples.ts'
import { type Findings, type SearchOptions, searchGrowth } from './search.ts'

/** Whether hours are to be spent. */
const full = process.env.TORTURE_RUNS !== undefined

/** Where types that many kinds share are descended into; everywhere else they are skipped. */
const shownBy: Readonly<Record<string, RegExp>> = {
  'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta': /^v1\/configmaps$/,
  'io.k8s.api.core.v1.PodTemplateSpec': /^apps\/v1\/deployments$/,
  'io.k8s.api.core.v1.PodSpec': /^v1\/pods$/,
  'io.k8s.api.core.v1.PersistentVolumeSpec': /^v1\/persistentvolumes$/,
  'io.k8s.api.core.v1.PersistentVolumeClaimSpec': /^v1\/persistentvolumeclaims$/,
  'io.k8s.api.batch.v1.JobSpec': /^batch\/v1\/jobs$/,
  'io.k8s.api.resource.v1.ResourceClaimSpec': /^resource\.k8s\.io\/v1\/resourceclaims$/,
}

/** Searches the built-in kinds whose names match. GROWTH_KINDS, an expression, leaves out all others. */
export async function searchBuiltin(names: RegExp): Promise<void> {
  const wanted = new RegExp(process.env.GROWTH_KINDS ?? '')
  const targets = builtinTargets().filter(({ name }) => names.test(name) && wanted.test(name))
  const options: SearchOptions = full
    ? { full }
    : { skip: (type, target) => shownBy[type] !== undefined && !shownBy[type].test(target.name) }
  report(await searchGrowth(targets, options))
}

/** Prints what there is to tell, and fails for faults. */
export function report({ faults, missed, spots, requests }: Findings): void {
  console.log(`${spots} places, ${requests} requests`)
  if (missed.length > 0)
    console.log(`full bodies that took longer than the goal of 50 ms in one turn:\n  ${missed.join('\n  ')}`)
  assert.deepEqual(faults, [])
}
