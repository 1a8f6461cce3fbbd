import { Pod } from '@coxswain/api/core/v1'
import type { Script } from '../scripted-pods.ts'
import type { Stage } from '../stage.ts'

export const labels = { app: 'web' }

/** A pod that needs no scheduler. */
export const podTemplate = (image: string): { readonly metadata: object; readonly spec: object } => ({
  metadata: { labels },
  spec: { nodeName: 'node-a', containers: [{ name: 'c', image }] },
})

/** Pods of the image `broken` run and never get ready. */
export const brokenNeverReady: Script = ({ spec }) =>
  spec.containers[0]?.image === 'broken' ? 'unready' : 'ready'

const isReady = ({ status, metadata }: Pod) =>
  metadata.deletionTimestamp === undefined &&
  status?.conditions?.some(each => each.type === 'Ready' && each.status === 'True')

/** So many pods are ready, and no others are there. */
export async function podsReady(stage: Stage, count: number): Promise<void> {
  await stage.until(`${count} pods are ready`, async () => {
    const pods = await stage.list(Pod)
    return pods.length === count && pods.every(isReady)
  })
}

export async function deleteOnePod(stage: Stage, isIt: (pod: Pod) => boolean = () => true): Promise<void> {
  const pod = (await stage.list(Pod)).find(isIt)
  await stage.remove(Pod, pod!.metadata.name)
  await stage.until('it is deleted', async () => (await stage.get(Pod, pod!.metadata.name)) === undefined)
}
