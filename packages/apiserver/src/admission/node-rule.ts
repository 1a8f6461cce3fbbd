import type { Attributes } from './attributes.ts'

/** Why a node may not make the request; undefined when it may. May throw a NotFound. */
export type NodeRestriction = (
  node: string,
  attributes: Attributes,
) => Promise<string | undefined> | string | undefined
