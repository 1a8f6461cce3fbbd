import type { Kind } from '@coxswain/apimachinery/kinds'

/** Identifies a kind, whichever kind value names it. */
export function kindKey({ group, version, resource }: Kind): string {
  return `${group}/${version}/${resource}`
}
