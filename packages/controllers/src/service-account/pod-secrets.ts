import type { PodView } from '@coxswain/kinds'

/** The names of all secrets that a pod uses. */
export function secretNamesOf({ spec }: PodView): string[] {
  const containers = [...spec.containers, ...(spec.initContainers ?? []), ...(spec.ephemeralContainers ?? [])]
  const names = [
    ...(spec.imagePullSecrets ?? []).map(({ name }) => name),
    ...containers.flatMap(({ env = [], envFrom = [] }) => [
      ...env.map(({ valueFrom }) => valueFrom?.secretKeyRef?.name),
      ...envFrom.map(({ secretRef }) => secretRef?.name),
    ]),
    ...(spec.volumes ?? []).flatMap(volume => [
      volume.secret?.secretName,
      ...(volume.projected?.sources ?? []).map(({ secret }) => secret?.name),
      volume.azureFile?.secretName,
      volume.csi?.nodePublishSecretRef?.name,
      volume.cephfs?.secretRef?.name,
      volume.cinder?.secretRef?.name,
      volume.flexVolume?.secretRef?.name,
      volume.iscsi?.secretRef?.name,
      volume.rbd?.secretRef?.name,
      volume.scaleIO?.secretRef?.name,
      volume.storageos?.secretRef?.name,
    ]),
  ]
  return names.filter(name => name !== undefined)
}
