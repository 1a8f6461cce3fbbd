import type { Kind } from '@coxswain/apimachinery/kinds'

/** Tells kinds apart, whichever handle names them. */
export function kindKey({ group, version, resource }: Kind): string {
  return `${group}/${version}/${resource}`
}
