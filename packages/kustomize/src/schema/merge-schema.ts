/** Which lists a strategic merge patch merges, and by which keys. */
export interface MergeSchema {
  /** The schema of a field; undefined when it is not known. */
  field(name: string): MergeSchema | undefined
  /** The schema of the items of a list. */
  items(): MergeSchema | undefined
  readonly isMerged: boolean
  /** Whether it says how the list is patched, merged or not. */
  readonly hasStrategy: boolean
  readonly keys: readonly string[]
}

export const opaqueSchema: MergeSchema = {
  field: () => undefined,
  items: () => undefined,
  isMerged: false,
  hasStrategy: false,
  keys: [],
}
