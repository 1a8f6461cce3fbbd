import { type Library, overload } from '../functions.ts'
import { opaqueOf } from '../types.ts'
import { fault, type OpaqueValue, toInt, type Value } from '../values.ts'

export const semverType: ReturnType<typeof opaqueOf> = opaqueOf('kubernetes.Semver')

type Identifier = bigint | string

export class SemverValue implements OpaqueValue {
  readonly celType: typeof semverType = semverType
  readonly core: readonly [bigint, bigint, bigint]
  readonly prerelease: readonly Identifier[]
  constructor(core: readonly [bigint, bigint, bigint], prerelease: readonly Identifier[]) {
    this.core = core
    this.prerelease = prerelease
  }
  equals(other: Value): boolean {
    return other instanceof SemverValue && this.compare(other) === 0
  }
  compare(other: SemverValue): number {
    for (let i = 0; i < 3; i++) {
      const order = compareParts(this.core[i] as bigint, other.core[i] as bigint)
      if (order !== 0) return order
    }
    if (this.prerelease.length === 0 || other.prerelease.length === 0) {
      return Math.sign(other.prerelease.length - this.prerelease.length)
    }
    const length = Math.min(this.prerelease.length, other.prerelease.length)
    for (let i = 0; i < length; i++) {
      const order = compareIdentifiers(this.prerelease[i] as Identifier, other.prerelease[i] as Identifier)
      if (order !== 0) return order
    }
    return Math.sign(this.prerelease.length - other.prerelease.length)
  }
}

function compareParts<T extends bigint | string>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Numbers come before words. */
function compareIdentifiers(a: Identifier, b: Identifier): number {
  if (typeof a === 'bigint') return typeof b === 'bigint' ? compareParts(a, b) : -1
  return typeof b === 'bigint' ? 1 : compareParts(a, b)
}

/** The version, or what is wrong with the text. */
export function parseSemver(text: string): SemverValue | string {
  if (text === '') return 'Version string empty'
  const parts = splitAtMost(text, '.', 3)
  if (parts.length !== 3) return 'No Major.Minor.Patch elements found'
  const numbers: bigint[] = []
  for (const [i, name] of ['major', 'minor'].entries()) {
    const problem = readNumber(parts[i] as string, name, numbers)
    if (problem !== undefined) return problem
  }
  const { patch, prerelease, build } = splitPatch(parts[2] as string)
  const problem = readNumber(patch, 'patch', numbers) ?? checkIdentifiers(build, 'Build meta data')
  if (problem !== undefined) return problem
  const identifiers: Identifier[] = []
  for (const part of prerelease) {
    const read = readIdentifier(part)
    if (typeof read === 'object') return read.problem
    identifiers.push(read)
  }
  return new SemverValue(numbers as unknown as [bigint, bigint, bigint], identifiers)
}

function splitAtMost(text: string, separator: string, count: number): string[] {
  const parts = text.split(separator)
  return parts.length <= count
    ? parts
    : [...parts.slice(0, count - 1), parts.slice(count - 1).join(separator)]
}

function readNumber(text: string, name: string, into: bigint[]): string | undefined {
  if (!/^\d+$/.test(text)) {
    if (text === '') return `strconv.ParseUint: parsing "": invalid syntax`
    return `Invalid character(s) found in ${name} number "${text}"`
  }
  if (text.length > 1 && text.startsWith('0'))
    return `${name[0]?.toUpperCase()}${name.slice(1)} number must not contain leading zeroes "${text}"`
  const value = BigInt(text)
  if (value >= 2n ** 64n) return `strconv.ParseUint: parsing "${text}": value out of range`
  into.push(value)
  return undefined
}

function splitPatch(text: string): { patch: string; prerelease: string[]; build: string[] } {
  const plus = text.indexOf('+')
  const build = plus < 0 ? [] : text.slice(plus + 1).split('.')
  const rest = plus < 0 ? text : text.slice(0, plus)
  const dash = rest.indexOf('-')
  if (dash < 0) return { patch: rest, prerelease: [], build }
  return { patch: rest.slice(0, dash), prerelease: rest.slice(dash + 1).split('.'), build }
}

function checkIdentifiers(parts: readonly string[], what: string): string | undefined {
  for (const part of parts) {
    if (part === '') return `${what} is empty`
    if (!/^[0-9A-Za-z-]+$/.test(part)) return `Invalid character(s) found in build meta data "${part}"`
  }
  return undefined
}

function readIdentifier(text: string): Identifier | { problem: string } {
  if (text === '') return { problem: 'Prerelease is empty' }
  if (/^\d+$/.test(text)) {
    if (text.length > 1 && text.startsWith('0')) {
      return { problem: `Numeric PreRelease version must not contain leading zeroes "${text}"` }
    }
    return BigInt(text)
  }
  if (!/^[0-9A-Za-z-]+$/.test(text)) return { problem: `Invalid character(s) found in prerelease "${text}"` }
  return text
}

/** Drops a leading v and leading zeros, and fills up to three numbers. */
function normalize(text: string): SemverValue | string {
  const parts = splitAtMost(text.replace(/^v/, ''), '.', 3).map(part => {
    if (part.length <= 1) return part
    const bare = part.replace(/^0+/, '')
    return /^\d/.test(bare) ? bare : `0${bare}`
  })
  if (parts.length < 3 && /[+-]/.test(parts.at(-1) ?? '')) {
    return 'short version cannot contain PreRelease/Build meta data'
  }
  while (parts.length < 3) parts.push('0')
  return parseSemver(parts.join('.'))
}

function read(text: string, tolerant = false): SemverValue | string {
  return tolerant ? normalize(text) : parseSemver(text)
}

function toSemver(text: string, tolerant = false): SemverValue {
  const parsed = read(text, tolerant)
  return typeof parsed === 'string' ? fault(parsed) : parsed
}

const isSemver = (text: string, tolerant = false): boolean => typeof read(text, tolerant) !== 'string'
const s = 'kubernetes.Semver'

export const semverLibrary: Library = {
  name: 'kubernetes.Semver',
  types: [semverType],
  overloads: [
    overload('string_to_semver', `semver(string): ${s}`, toSemver),
    overload('string_bool_to_semver', `semver(string, bool): ${s}`, toSemver),
    overload('is_semver_string', 'isSemver(string): bool', isSemver),
    overload('is_semver_string_bool', 'isSemver(string, bool): bool', isSemver),
    overload(
      'semver_is_greater_than',
      `isGreaterThan(this ${s}, ${s}): bool`,
      (a: SemverValue, b: SemverValue) => a.compare(b) > 0,
    ),
    overload(
      'semver_is_less_than',
      `isLessThan(this ${s}, ${s}): bool`,
      (a: SemverValue, b: SemverValue) => a.compare(b) < 0,
    ),
    overload('semver_compare_to', `compareTo(this ${s}, ${s}): int`, (a: SemverValue, b: SemverValue) =>
      a.compare(b),
    ),
    overload('semver_major', `major(this ${s}): int`, (a: SemverValue) => toInt(a.core[0])),
    overload('semver_minor', `minor(this ${s}): int`, (a: SemverValue) => toInt(a.core[1])),
    overload('semver_patch', `patch(this ${s}): int`, (a: SemverValue) => toInt(a.core[2])),
  ],
}
