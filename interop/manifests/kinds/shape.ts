import type { DefinedKind, KindDefinition, VersionDefinition } from '@coxswain/apimachinery/kinds'
import { defineKind } from 'coxswain'

const group = 'shapes.example.com'

type Names = Omit<KindDefinition<typeof group, string, never>, 'group' | 'kind' | 'versions' | 'conversions'>

/** A kind of the group with one version. */
export function shape<K extends string, D extends VersionDefinition>(
  kind: K,
  version: D,
  names: Names = {},
): DefinedKind<typeof group, K, { v1: D }> {
  return defineKind({ group, kind, ...names, versions: { v1: version } })
}
