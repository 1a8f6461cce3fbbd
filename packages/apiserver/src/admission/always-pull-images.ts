import * as field from '@coxswain/apimachinery/field'
import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { type AdmissionPlugin, isPodWrite } from './admission.ts'
import type { Attributes } from './attributes.ts'
import { forbidden } from './policies/policy-request.ts'

const kinds = ['initContainers', 'containers', 'ephemeralContainers'] as const

/** Forces images to be pulled for each Pod, so that only users who may pull an image can run it. Off by default. */
export const alwaysPullImages: AdmissionPlugin = {
  name: 'AlwaysPullImages',
  needs: 'pods',
  mutate(attributes) {
    if (!isPodWrite(attributes, 'CREATE', 'UPDATE') || !bringsImages(attributes)) return
    for (const { part } of imagesOf(attributes.object)) part.value[part.member] = 'Always'
  },
  validate(attributes) {
    if (!isPodWrite(attributes, 'CREATE', 'UPDATE') || !bringsImages(attributes)) return
    for (const { part, path } of imagesOf(attributes.object)) {
      const policy = part.value[part.member]
      if (policy === 'Always') continue
      const problem = field.notSupported(path.child(part.member), policy ?? '', ['Always'])
      throw forbidden(attributes, field.formatFieldError(problem))
    }
  },
}

interface PulledImage {
  readonly image: unknown
  readonly path: field.Path
  readonly part: { readonly value: JsonObject; readonly member: 'imagePullPolicy' | 'pullPolicy' }
}

/** Containers and image volumes of a pod. */
function imagesOf(pod: JsonObject | undefined): PulledImage[] {
  const spec = isObject(pod?.spec) ? pod.spec : {}
  const entries = (kind: string): [number, JsonObject][] =>
    Array.isArray(spec[kind]) ? [...spec[kind].filter(isObject).entries()] : []
  const containers = kinds.flatMap(kind =>
    entries(kind).map(
      ([index, value]): PulledImage => ({
        image: value.image,
        path: field.Path.of('spec', kind).index(index),
        part: { value, member: 'imagePullPolicy' },
      }),
    ),
  )
  const volumes = entries('volumes').flatMap(([index, { image }]): PulledImage[] => {
    if (!isObject(image)) return []
    const path = field.Path.of('spec', 'volumes').index(index).child('image')
    return [{ image: image.reference, path, part: { value: image, member: 'pullPolicy' } }]
  })
  return [...containers, ...volumes]
}

/** Whether the write brings an image that the container did not have. */
function bringsImages({ operation, object, oldObject }: Attributes): boolean {
  if (operation !== 'UPDATE') return true
  const isContainer = ({ part }: PulledImage) => part.member === 'imagePullPolicy'
  const known = new Set(
    imagesOf(oldObject)
      .filter(isContainer)
      .map(({ image }) => image),
  )
  return imagesOf(object)
    .filter(isContainer)
    .some(({ image }) => !known.has(image))
}
