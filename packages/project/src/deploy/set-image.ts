import { isObject } from '@coxswain/apimachinery/json'
import { ProjectError } from '../errors.ts'
import type { Manifest } from './object-name.ts'

/** The container of the operator, as kubebuilder calls it too. */
const containerName = 'manager'

/** The same objects, with another image in the containers called manager. Throws `BadManifest` when there is none. */
export function setImage(manifests: readonly Manifest[], image: string): Manifest[] {
  let count = 0
  const changed = manifests.map(manifest => {
    const { spec } = manifest
    if (!isObject(spec) || !isObject(spec.template) || !isObject(spec.template.spec)) return manifest
    const pod = spec.template.spec
    if (!Array.isArray(pod.containers)) return manifest
    const containers = pod.containers.map(container => {
      if (!isObject(container) || container.name !== containerName) return container
      count++
      return { ...container, image }
    })
    return { ...manifest, spec: { ...spec, template: { ...spec.template, spec: { ...pod, containers } } } }
  })
  if (count === 0)
    throw new ProjectError(
      'BadManifest',
      `no container is called ${containerName}, so there is no image to set`,
    )
  return changed
}
