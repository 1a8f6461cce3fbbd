import { parseInt64 } from '../go/parse-int.ts'

/**
 * The order in which clients prefer versions: stable before beta before alpha, higher numbers first
 * (v10, v2, v1, v11beta2, v10beta3, v3beta1, v12alpha1, v11alpha2), then names that are not Kubernetes versions,
 * alphabetically. For `sort`: negative when `a` is preferred.
 */
export function comparePreferredVersions(a: string, b: string): number {
  if (a === b) return 0
  const left = parseVersion(a)
  const right = parseVersion(b)
  if (!left || !right) return left ? -1 : right ? 1 : a < b ? -1 : 1
  return right.level - left.level || compare(right.major, left.major) || compare(right.minor, left.minor)
}

const levels: Record<string, number> = { alpha: 0, beta: 1 }

const compare = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0)

function parseVersion(version: string): { level: number; major: bigint; minor: bigint } | undefined {
  if (version.length > 40) return undefined
  const match = /^v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?$/.exec(version)
  if (!match) return undefined
  const major = parseInt64(match[1]!)
  const minor = parseInt64(match[3] ?? '0')
  // A name with a number that exceeds Go's int is not a version.
  if (major === undefined || minor === undefined) return undefined
  return { level: match[2] ? levels[match[2]]! : 2, major, minor }
}
