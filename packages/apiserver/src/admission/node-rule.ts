import type { Attributes } from './attributes.ts'

/** What a node may not do; undefined when it may. A NotFound is thrown. */
export type NodeRestriction = (
  node: string,
  attributes: Attributes,
) => Promise<string | undefined> | string | undefined
