import type { Container, PodSpec } from '@coxswain/api/core/v1'
import type { Decoded } from '../../decoded.ts'

/**
 * Drops the fields of a PodSpec that belong to features that are off in this release, as if the server did not know
 * them.
 */
export function dropDisabledFields(spec: Decoded<PodSpec>): void {
  delete spec.schedulingGroup
  for (const kind of ['initContainers', 'containers', 'ephemeralContainers'] as const)
    for (const container of spec[kind] ?? []) dropStopSignal(container)
  for (const volume of spec.volumes ?? []) {
    for (const source of volume.projected?.sources ?? []) {
      delete source.clusterTrustBundle
      delete source.podCertificate
    }
  }
}

function dropStopSignal(container: Decoded<Container>): void {
  const { lifecycle } = container
  if (!lifecycle || lifecycle.stopSignal === undefined) return
  delete lifecycle.stopSignal
  if (lifecycle.preStop === undefined && lifecycle.postStart === undefined) delete container.lifecycle
}
