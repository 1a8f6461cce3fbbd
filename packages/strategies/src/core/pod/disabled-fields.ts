import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { listOf, objectOf } from '../../shared/reading.ts'

/**
 * Takes out of a pod's specification what belongs to features that are off in this release: a client that sends it gets
 * a pod without it, as if the server did not know the field.
 */
export function dropDisabledFields(spec: JsonObject): void {
  delete spec.schedulingGroup
  for (const kind of ['initContainers', 'containers', 'ephemeralContainers'])
    for (const container of listOf(spec[kind])) dropStopSignal(container)
  for (const volume of listOf(spec.volumes)) {
    for (const source of listOf(objectOf(volume.projected).sources)) {
      delete source.clusterTrustBundle
      delete source.podCertificate
    }
  }
}

function dropStopSignal(container: JsonObject): void {
  const { lifecycle } = container
  if (!isObject(lifecycle) || lifecycle.stopSignal === undefined) return
  delete lifecycle.stopSignal
  if (lifecycle.preStop === undefined && lifecycle.postStart === undefined) delete container.lifecycle
}
