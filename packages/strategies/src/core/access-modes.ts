import * as field from '@coxswain/apimachinery/field'
import type { Findings } from '../shared/reading.ts'

const accessModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod']

export const volumeModes: readonly string[] = ['Block', 'Filesystem']

const shortNames = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
] as const

export function* validateAccessModes(
  value: readonly string[] | null | undefined,
  path: field.Path,
): Findings {
  const modes = value ?? []
  for (const mode of modes) if (!accessModes.includes(mode)) yield field.notSupported(path, mode, accessModes)
  const others = modes.filter(mode => mode !== 'ReadWriteOncePod' && accessModes.includes(mode))
  if (others.length > 0 && modes.includes('ReadWriteOncePod'))
    yield field.forbidden(path, 'may not use ReadWriteOncePod with other access modes')
}

/** `RWO,ROX,RWX,RWOP`, always in this order. */
export function printAccessModes(value: readonly string[] | null | undefined): string {
  const modes = value ?? []
  return shortNames
    .filter(([mode]) => modes.includes(mode))
    .map(([, short]) => short)
    .join(',')
}
