import { isDNS1123Label, isDNS1123Subdomain } from '@coxswain/apimachinery/validation'
import { ProjectError } from '../errors.ts'

/** The names that a kind is scaffolded with. */
export interface ResourceNames {
  readonly group: string
  readonly version: string
  readonly kind: string
}

/** What scaffolded files import: a kind of that name would clash. */
const taken = new Set(['KindOf', 'OperatorBuilder', 'VirtualWorld'])
const longestKind = 63

/** Why a domain cannot be used; undefined when it can. */
export function problemOfDomain(domain: string): string | undefined {
  const [problem] = isDNS1123Subdomain(domain)
  return problem === undefined ? undefined : `is not a domain such as example.com: ${problem}`
}

/** Why a project cannot have this name. It is part of names in a cluster, such as NAME-controller-manager. */
export function problemOfProjectName(name: string): string | undefined {
  const [problem] = isDNS1123Label(name)
  if (problem !== undefined) return problem
  return name.length > 40
    ? 'must be no more than 40 characters, because names in the cluster begin with it'
    : undefined
}

/** Why a group cannot be used; undefined if it can. */
export function problemOfGroup(group: string, domain: string): string | undefined {
  if (group.includes('.'))
    return `must not have dots: the domain ${domain} is appended to it, as in ${group.split('.')[0] || 'crew'}.${domain}`
  return isDNS1123Label(group)[0]
}

/** Why a version cannot be used; undefined if it can. */
export function problemOfVersion(version: string): string | undefined {
  return /^v[1-9]\d{0,4}((alpha|beta)[1-9]\d{0,4})?$/.test(version)
    ? undefined
    : 'must be a version such as v1, v1beta1 or v1alpha1'
}

/** Why a kind cannot be used; undefined if it can. */
export function problemOfKind(kind: string): string | undefined {
  if (!/^[A-Za-z][A-Za-z0-9]*$/.test(kind))
    return 'must consist of letters and digits, and begin with a letter'
  const pascal = kind[0]!.toUpperCase() + kind.slice(1)
  if (kind !== pascal) return `must be in PascalCase (expected ${pascal}, was ${kind})`
  if (kind.length > longestKind) return `must be no more than ${longestKind} characters`
  if (taken.has(kind)) return 'is a name that the scaffolded files import from coxswain; choose another'
  return undefined
}

/** Throws `BadName` for the first name that cannot be used, as the flag that has it. */
export function checkResourceNames({ group, version, kind }: ResourceNames, domain: string): void {
  refuse('--group', group, problemOfGroup(group, domain))
  refuse('--version', version, problemOfVersion(version))
  refuse('--kind', kind, problemOfKind(kind))
}

/** Throws `BadName` for a name of a project or domain that cannot be used. */
export function checkProjectNames(domain: string, name: string): void {
  refuse('--domain', domain, problemOfDomain(domain))
  refuse('--name', name, problemOfProjectName(name))
}

function refuse(flag: string, value: string, problem: string | undefined): void {
  if (problem !== undefined) throw new ProjectError('BadName', `${flag} ${value}: ${problem}`)
}
