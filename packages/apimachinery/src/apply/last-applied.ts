import { encodeText } from '@coxswain/kit'
import { printJson } from '../go/print-value.ts'
import { getOwn, isPlainObject, type PlainObject } from '../json/plain.ts'
import { difference, type FieldSet } from './field-set.ts'
import type { TypeNode } from './type-node.ts'
import { compareTyped } from './typed-compare.ts'
import { fieldSetOf, validateTyped } from './typed-walk.ts'

/** Where `kubectl apply` without `--server-side` keeps the configuration it applied. */
export const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration'
/** Only this applier moves from the annotation to managed fields. */
export const kubectlManager = 'kubectl'

const maxAnnotationBytes = 256 * 1024

function lastApplied(object: PlainObject): string {
  const metadata = getOwn(object, 'metadata')
  const annotations = isPlainObject(metadata) ? getOwn(metadata, 'annotations') : undefined
  const text = isPlainObject(annotations) ? getOwn(annotations, lastAppliedAnnotation) : undefined
  return typeof text === 'string' ? text : ''
}

export function hasLastApplied(object: PlainObject): boolean {
  return lastApplied(object) !== ''
}

/** The fields in the annotation of `live` that `live` still has: kubectl may take them over; `undefined` if there are none. */
export function allowedConflicts(
  live: PlainObject,
  apiVersion: string,
  type: TypeNode,
): FieldSet | undefined {
  const text = lastApplied(live)
  if (text === '') return undefined
  try {
    const config: unknown = JSON.parse(text)
    if (!isPlainObject(config) || config.apiVersion !== apiVersion) return undefined
    validateTyped(live, type)
    validateTyped(config, type)
    const set = fieldSetOf(config, type)
    const comparison = compareTyped(config, live, type)
    if (comparison === undefined) return set
    const { modified, added, removed } = comparison
    return difference(difference(difference(set, modified), added), removed)
  } catch {
    return undefined // an unparsable annotation allows nothing
  }
}

/** `object` with `config` in its annotation, or without the annotation when that would be too large. */
export function withLastApplied(object: PlainObject, config: PlainObject): PlainObject {
  const metadata = object.metadata as PlainObject
  const annotations: PlainObject = {
    ...(metadata.annotations as PlainObject),
    [lastAppliedAnnotation]: print(config),
  }
  if (byteSize(annotations) > maxAnnotationBytes) delete annotations[lastAppliedAnnotation]
  return { ...object, metadata: { ...metadata, annotations } }
}

function print(config: PlainObject): string {
  const metadata = config.metadata as PlainObject | undefined
  const annotations = metadata?.annotations
  if (!isPlainObject(annotations)) return `${printJson(config)}\n`
  const { [lastAppliedAnnotation]: _own, ...others } = annotations
  return `${printJson({ ...config, metadata: { ...metadata, annotations: others } })}\n`
}

function byteSize(annotations: PlainObject): number {
  let size = 0
  for (const [key, value] of Object.entries(annotations)) {
    size += encodeText(key).length + encodeText(String(value)).length
  }
  return size
}
