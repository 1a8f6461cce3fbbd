import type { UserInfo } from '../../request/context.ts'

const prefix = 'system:node:'

/** The node name of a user; undefined for other users, empty for a node without a name. */
export function nodeNameOf({ name, groups }: UserInfo): string | undefined {
  if (!name.startsWith(prefix) || !groups.includes('system:nodes')) return undefined
  return name.slice(prefix.length)
}
