import { PersistentVolume, PersistentVolumeClaim, Pod } from '@coxswain/api/core/v1'
import type { Client } from '@coxswain/client'
import { outcomeOf } from '../../../packages/testing/src/test-support/scheduling/scenario.ts'
import type { Case } from './draw-case.ts'

/** What has become of everything, in words, by name. */
export type Snapshot = Readonly<Record<string, string>>

const selectedNode = 'volume.kubernetes.io/selected-node'

/** After the step at `index`: of the pods that have come, of those that were there before, and of volumes and claims. */
export async function takeSnapshot(client: Client, { before, pods }: Case, index: number): Promise<Snapshot> {
  const all = [...before.flat(), ...pods.slice(0, index + 1)]
  const entries = await Promise.all(
    all.map(async ([kind, { metadata }]): Promise<[string, string] | undefined> => {
      const key = { name: metadata.name, ...(metadata.namespace && { namespace: metadata.namespace }) }
      if (kind === Pod) {
        const found = await client.get(Pod, key)
        const condition = found?.status?.conditions?.find(({ type }) => type === 'PodScheduled')
        return [metadata.name, [outcomeOf(found), condition?.reason].filter(Boolean).join(' | ')]
      }
      if (kind === PersistentVolumeClaim) {
        const found = await client.get(PersistentVolumeClaim, key)
        return [metadata.name, found?.metadata.annotations?.[selectedNode] ?? '']
      }
      if (kind === PersistentVolume) {
        const found = await client.get(PersistentVolume, key)
        return [metadata.name, found?.spec?.claimRef?.name ?? '']
      }
      return undefined
    }),
  )
  return Object.fromEntries(entries.filter(entry => entry !== undefined))
}
