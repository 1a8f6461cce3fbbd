import { deepClone } from '../json/value.ts'
import { formatGroupVersion, parseGroupVersion } from '../meta/gvk.ts'
import type { ApiObject, ObjectMeta } from '../meta/meta.ts'

/** The result of a conversion: the fields of the other version. Metadata is copied; labels and annotations may be changed. */
export type Converted<T extends ApiObject> = Omit<T, 'apiVersion' | 'kind' | 'metadata'> & {
  metadata?: Pick<ObjectMeta, 'labels' | 'annotations'>
}

/** Conversions in both directions between two versions. Fields that the other version lacks must survive a round trip. */
export interface Conversions<T extends ApiObject, O extends ApiObject> {
  /** Into the other version. */
  readonly to: (object: T) => Converted<O>
  /** From the other version. */
  readonly from: (object: O) => Converted<T>
}

/** One conversion from a version to another. */
export interface ConversionStep {
  readonly from: string
  readonly to: string
  readonly convert: (object: ApiObject) => Converted<ApiObject>
}

/**
 * The object in another version of its group, by the shortest chain of conversions; the given one is not changed.
 * @throws Error when there is no conversion, and what a conversion throws
 */
export function convertObject(
  object: ApiObject,
  apiVersion: string,
  steps: readonly ConversionStep[],
): ApiObject {
  const { group, version } = parseGroupVersion(object.apiVersion)
  const target = parseGroupVersion(apiVersion)
  if (target.group !== group) throw new Error(`${object.kind} of ${group} is not in group ${target.group}`)
  const chain = findConversion(steps, version, target.version)
  if (!chain)
    throw new Error(`no conversion of ${object.kind} of ${group} from ${version} to ${target.version}`)
  let converted = deepClone(object)
  for (const step of chain) {
    const { metadata, ...fields } = step.convert(converted)
    converted = {
      ...fields,
      apiVersion: formatGroupVersion({ group, version: step.to }),
      kind: object.kind,
      metadata: withChanges(converted.metadata, metadata),
    }
  }
  return converted
}

/** The shortest chain of conversions between two versions; undefined when there is none. */
export function findConversion(
  steps: readonly ConversionStep[],
  from: string,
  to: string,
): readonly ConversionStep[] | undefined {
  if (from === to) return []
  const seen = new Set([from])
  let front: { readonly at: string; readonly chain: readonly ConversionStep[] }[] = [{ at: from, chain: [] }]
  while (front.length > 0) {
    const next: typeof front = []
    for (const { at, chain } of front) {
      for (const step of steps) {
        if (step.from !== at || seen.has(step.to)) continue
        if (step.to === to) return [...chain, step]
        seen.add(step.to)
        next.push({ at: step.to, chain: [...chain, step] })
      }
    }
    front = next
  }
  return undefined
}

/** Only labels and annotations may change: the server rejects anything else. */
function withChanges(
  metadata: ApiObject['metadata'],
  changes: Pick<ObjectMeta, 'labels' | 'annotations'> | undefined,
): ApiObject['metadata'] {
  const { labels, annotations } = changes ?? {}
  return { ...metadata, ...(labels && { labels }), ...(annotations && { annotations }) }
}
