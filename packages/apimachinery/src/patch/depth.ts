import { MachineryError } from '../errors.ts'

/** Merging is recursive. Deeper patches are rejected; no API type comes near. */
const maxPatchDepth = 1_000

/** Throws `PatchUndecodable` for a patch that is nested too deep. */
export function checkDepth(patch: unknown): void {
  if (isDeeper(patch, maxPatchDepth)) throw new MachineryError('PatchUndecodable', 'exceeded max depth')
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  if (Array.isArray(value)) return value.some(item => isDeeper(item, levels - 1))
  for (const key in value) {
    if (isDeeper((value as Record<string, unknown>)[key], levels - 1)) return true
  }
  return false
}
