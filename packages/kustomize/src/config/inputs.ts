import type { Gvk } from '../resource/gvk.ts'
import type { IdSelector } from '../resource/resource-id.ts'

/** A field spec as configuration has it. */
export interface FieldSpecInput {
  group?: string
  version?: string
  kind?: string
  path?: string
  create?: boolean
}

/** A selector as configuration has it. */
export interface SelectorInput {
  group?: string
  version?: string
  kind?: string
  name?: string
  namespace?: string
  labelSelector?: string
  annotationSelector?: string
}

/** Where a transformer looks: a path in objects of some kinds. */
export interface FieldSpec extends Gvk {
  readonly path: string
  readonly create: boolean
}

export const toFieldSpec = ({
  group = '',
  version = '',
  kind = '',
  path = '',
  create = false,
}: FieldSpecInput): FieldSpec => ({
  group,
  version,
  kind,
  path,
  create,
})

export const toIdSelector = ({
  group = '',
  version = '',
  kind = '',
  name = '',
  namespace = '',
}: SelectorInput): IdSelector => ({ group, version, kind, name, namespace })
