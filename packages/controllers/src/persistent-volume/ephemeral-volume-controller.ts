import { PersistentVolumeClaim, Pod } from '@coxswain/api/core/v1'
import { formatKey, getControllerOf } from '@coxswain/apimachinery/meta'
import { controllerReference, isPodTerminal } from '@coxswain/kinds'
import { defineOperator, type Operator, type ReconcileContext } from '@coxswain/runtime'
import { ephemeralClaimName } from './volumes.ts'

/** Creates the claims of generic ephemeral volumes; they are deleted with the pod. */
export function createEphemeralVolumeController(): Operator {
  return defineOperator('ephemeral-volume-controller', operator => {
    operator
      .controller('ephemeral-volume')
      .for(Pod)
      .owns(PersistentVolumeClaim)
      .options({ eventSource: 'ephemeral_volume', concurrency: 5 })
      .reconcile(reconcile)
  })
}

async function reconcile({ client, key, events }: ReconcileContext): Promise<void> {
  const pod = await client.get(Pod, key)
  if (!pod || pod.metadata.deletionTimestamp || isPodTerminal(pod)) return
  for (const { name: volume, ephemeral } of pod.spec.volumes ?? []) {
    const template = ephemeral?.volumeClaimTemplate
    if (!template) continue
    const name = ephemeralClaimName(pod, volume)
    const { namespace = '' } = key
    const fail = (message: string) => {
      events.warning(pod, 'FailedBinding', `ephemeral volume ${volume}: ${message}`)
      return new Error(`pod ${formatKey(key)}, ephemeral volume ${volume}: ${message}`)
    }
    const claim = await client.get(PersistentVolumeClaim, { namespace, name })
    if (claim) {
      if (getControllerOf(claim)?.uid === pod.metadata.uid) continue
      throw fail(`PVC ${namespace}/${name} was not created for pod ${formatKey(key)} (pod is not owner)`)
    }
    const { labels, annotations } = template.metadata ?? {}
    try {
      await client.create(PersistentVolumeClaim, {
        metadata: {
          namespace,
          name,
          ...(labels && { labels }),
          ...(annotations && { annotations }),
          ownerReferences: [controllerReference(Pod, pod)],
        },
        spec: template.spec,
      })
    } catch (error) {
      throw fail(`create PVC ${name}: ${(error as Error).message}`)
    }
  }
}
