import type {
  PodSecurityContext,
  PodSpec,
  SecurityContext,
  WindowsSecurityContextOptions,
} from '@coxswain/api/core/v1'
import * as field from '@coxswain/apimachinery/field'
import { isDNS1123Subdomain } from '@coxswain/apimachinery/validation'
import type { Decoded } from '../../../decoded.ts'
import { containersWithPath, type Findings, invalidBecause } from '../../../shared/reading.ts'

const maxCredentialSpecKiB = 64
const maxDomainLength = 256
const maxUserLength = 104
const netBios = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/
const dnsDomain =
  /^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/

export function* validateWindowsOptions(
  options: Decoded<WindowsSecurityContextOptions> | null | undefined,
  path: field.Path,
): Findings {
  if (!options) return
  const { gmsaCredentialSpecName, gmsaCredentialSpec, runAsUserName } = options
  if (gmsaCredentialSpecName !== undefined) {
    const name = gmsaCredentialSpecName ?? ''
    yield* invalidBecause(path.child('gmsaCredentialSpecName'), name, isDNS1123Subdomain(name))
  }
  if (gmsaCredentialSpec !== undefined) {
    const size = (gmsaCredentialSpec ?? '').length
    const at = path.child('gmsaCredentialSpec')
    if (size === 0) yield field.invalid(at, '', 'gmsaCredentialSpec cannot be an empty string')
    else if (size > maxCredentialSpecKiB * 1024) {
      const message = `gmsaCredentialSpec size must be under ${maxCredentialSpecKiB} KiB`
      yield field.invalid(at, gmsaCredentialSpec, message)
    }
  }
  if (runAsUserName !== undefined)
    yield* invalidBecause(path.child('runAsUserName'), runAsUserName, userNameProblems(runAsUserName ?? ''))
}

/** `DOMAIN\USER`, the domain optional. */
function userNameProblems(name: string): string[] {
  if (name === '') return ['runAsUserName cannot be an empty string']
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (/[\x00-\x1f\x7f]/.test(name)) return ['runAsUserName cannot contain control characters']
  const parts = name.split('\\')
  if (parts.length > 2) return ['runAsUserName cannot contain more than one backslash']
  const user = parts.at(-1)!
  const domain = parts.length === 2 ? parts[0]! : undefined
  const problems: string[] = []
  if (domain !== undefined && domain.length >= maxDomainLength)
    problems.push(`runAsUserName's Domain length must be under ${maxDomainLength} characters`)
  if (domain !== undefined && !netBios.test(domain) && !dnsDomain.test(domain))
    problems.push("runAsUserName's Domain doesn't match the NetBios nor the DNS format")
  if (user === '') problems.push("runAsUserName's User cannot be empty")
  else if (user.length > maxUserLength)
    problems.push(`runAsUserName's User length must not be longer than ${maxUserLength} characters`)
  if (/^[. ]+$/.test(user)) problems.push("runAsUserName's User cannot contain only periods or spaces")
  if (/["/\\:;|=,+*?<>@[\]]/.test(user))
    problems.push(`runAsUserName's User cannot contain the following characters: "/\\:;|=,+*?<>@[]`)
  return problems
}

/** All containers of a pod run on the host, or none. */
export function* validateHostProcess(spec: Decoded<PodSpec>, path: field.Path): Findings {
  const pod = spec.securityContext?.windowsOptions?.hostProcess
  let containers = 0
  let onHost = 0
  for (const [container, at] of containersWithPath(spec, path)) {
    containers++
    const own = container.securityContext?.windowsOptions?.hostProcess
    if (pod !== undefined && own !== undefined && pod !== own) {
      const message = `pod hostProcess value must be identical if both are specified, was ${pod}`
      yield field.invalid(at.child('securityContext', 'windowsOptions', 'hostProcess'), own, message)
    }
    if ((own ?? pod) === true) onHost++
  }
  if (onHost === 0) return
  if (onHost !== containers) {
    const message =
      'If pod contains any hostProcess containers then all containers must be HostProcess containers'
    yield field.invalid(path, '', message)
  }
  if (spec.hostNetwork !== true) {
    const message = 'hostNetwork must be true if pod contains any hostProcess containers'
    yield field.invalid(path.child('hostNetwork'), false, message)
  }
}

/** Settings that the operating system of a pod does not have. */
export function* validateOperatingSystem(spec: Decoded<PodSpec>, path: field.Path): Findings {
  if (!spec.os) return
  const name = spec.os.name ?? ''
  if (name === '') yield field.required(path.child('os', 'name'))
  else if (name === 'linux') yield* validateLinux(spec, path)
  else if (name === 'windows') yield* validateWindows(spec, path)
  else yield field.notSupported(path.child('os'), name, ['linux', 'windows'])
}

function* validateLinux(spec: Decoded<PodSpec>, path: field.Path): Findings {
  const message = 'windows options cannot be set for a linux pod'
  if (spec.securityContext?.windowsOptions !== undefined)
    yield field.forbidden(path.child('securityContext', 'windowsOptions'), message)
  for (const [container, at] of containersWithPath(spec, path)) {
    if (container.securityContext?.windowsOptions !== undefined)
      yield field.forbidden(at.child('securityContext', 'windowsOptions'), message)
  }
}

type SpecMember = keyof Decoded<PodSpec>
type ContextMember = keyof Decoded<PodSecurityContext>

/** What a Linux pod may set and a Windows pod may not, in the order of upstream's errors. */
const linuxOnly: readonly (readonly ['spec', SpecMember] | readonly ['context', ContextMember])[] = [
  ['context', 'appArmorProfile'],
  ['context', 'seLinuxOptions'],
  ['spec', 'hostUsers'],
  ['spec', 'hostPID'],
  ['spec', 'hostIPC'],
  ['context', 'seccompProfile'],
  ['context', 'fsGroup'],
  ['context', 'fsGroupChangePolicy'],
  ['context', 'sysctls'],
  ['spec', 'shareProcessNamespace'],
  ['context', 'runAsUser'],
  ['context', 'runAsGroup'],
  ['context', 'supplementalGroups'],
  ['context', 'supplementalGroupsPolicy'],
  ['context', 'seLinuxChangePolicy'],
]
const linuxOnlyInContainers: readonly (keyof Decoded<SecurityContext>)[] = [
  ...(['appArmorProfile', 'seLinuxOptions', 'seccompProfile', 'capabilities'] as const),
  ...(['readOnlyRootFilesystem', 'privileged', 'allowPrivilegeEscalation', 'procMount'] as const),
  ...(['runAsUser', 'runAsGroup'] as const),
]

function* validateWindows(spec: Decoded<PodSpec>, path: field.Path): Findings {
  const message = 'cannot be set for a windows pod'
  const context = spec.securityContext ?? {}
  for (const [place, name] of linuxOnly) {
    const value = place === 'context' ? context[name] : spec[name]
    if (value === undefined || value === false || (Array.isArray(value) && value.length === 0)) continue
    const at = place === 'context' ? path.child('securityContext', name) : path.child(name)
    yield field.forbidden(at, message)
  }
  for (const [container, at] of containersWithPath(spec, path)) {
    for (const name of linuxOnlyInContainers) {
      if (container.securityContext?.[name] !== undefined)
        yield field.forbidden(at.child('securityContext', name), message)
    }
  }
}
