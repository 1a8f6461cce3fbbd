import * as field from '@coxswain/apimachinery/field'
import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { isDNS1123Subdomain } from '@coxswain/apimachinery/validation'
import {
  containersWithPath,
  type Findings,
  invalidBecause,
  listOf,
  objectOf,
  textOf,
} from '../../../shared/reading.ts'

const maxCredentialSpecKiB = 64
const maxDomainLength = 256
const maxUserLength = 104
const netBios = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/
const dnsDomain =
  /^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/

export function* validateWindowsOptions(options: unknown, path: field.Path): Findings {
  if (!isObject(options)) return
  const { gmsaCredentialSpecName, gmsaCredentialSpec, runAsUserName } = options
  if (gmsaCredentialSpecName !== undefined) {
    const name = textOf(gmsaCredentialSpecName)
    yield* invalidBecause(path.child('gmsaCredentialSpecName'), name, isDNS1123Subdomain(name))
  }
  if (gmsaCredentialSpec !== undefined) {
    const size = textOf(gmsaCredentialSpec).length
    const at = path.child('gmsaCredentialSpec')
    if (size === 0) yield field.invalid(at, '', 'gmsaCredentialSpec cannot be an empty string')
    else if (size > maxCredentialSpecKiB * 1024) {
      const message = `gmsaCredentialSpec size must be under ${maxCredentialSpecKiB} KiB`
      yield field.invalid(at, gmsaCredentialSpec, message)
    }
  }
  if (runAsUserName !== undefined)
    yield* invalidBecause(path.child('runAsUserName'), runAsUserName, userNameProblems(textOf(runAsUserName)))
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
export function* validateHostProcess(spec: JsonObject, path: field.Path): Findings {
  const pod = objectOf(objectOf(spec.securityContext).windowsOptions).hostProcess
  let containers = 0
  let onHost = 0
  for (const [container, at] of containersWithPath(spec, path)) {
    containers++
    const own = objectOf(objectOf(container.securityContext).windowsOptions).hostProcess
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
export function* validateOperatingSystem(spec: JsonObject, path: field.Path): Findings {
  if (!isObject(spec.os)) return
  const name = textOf(spec.os.name)
  if (name === '') yield field.required(path.child('os', 'name'))
  else if (name === 'linux') yield* validateLinux(spec, path)
  else if (name === 'windows') yield* validateWindows(spec, path)
  else yield field.notSupported(path.child('os'), name, ['linux', 'windows'])
}

function* validateLinux(spec: JsonObject, path: field.Path): Findings {
  const message = 'windows options cannot be set for a linux pod'
  if (objectOf(spec.securityContext).windowsOptions !== undefined)
    yield field.forbidden(path.child('securityContext', 'windowsOptions'), message)
  for (const [container, at] of containersWithPath(spec, path)) {
    if (objectOf(container.securityContext).windowsOptions !== undefined)
      yield field.forbidden(at.child('securityContext', 'windowsOptions'), message)
  }
}

/** What a Linux pod may set and a Windows pod may not; those with a dot are members of the security context. */
const linuxOnly = [
  ...['.appArmorProfile', '.seLinuxOptions', 'hostUsers', 'hostPID', 'hostIPC', '.seccompProfile'],
  ...['.fsGroup', '.fsGroupChangePolicy', '.sysctls', 'shareProcessNamespace', '.runAsUser', '.runAsGroup'],
  ...['.supplementalGroups', '.supplementalGroupsPolicy', '.seLinuxChangePolicy'],
]
const linuxOnlyInContainers = [
  ...['appArmorProfile', 'seLinuxOptions', 'seccompProfile', 'capabilities', 'readOnlyRootFilesystem'],
  ...['privileged', 'allowPrivilegeEscalation', 'procMount', 'runAsUser', 'runAsGroup'],
]

function* validateWindows(spec: JsonObject, path: field.Path): Findings {
  const message = 'cannot be set for a windows pod'
  const context = objectOf(spec.securityContext)
  for (const member of linuxOnly) {
    const inContext = member.startsWith('.')
    const name = inContext ? member.slice(1) : member
    const value = inContext ? context[name] : spec[name]
    if (value === undefined || value === false || (Array.isArray(value) && listOf(value).length === 0))
      continue
    yield field.forbidden(inContext ? path.child('securityContext', name) : path.child(name), message)
  }
  for (const [container, at] of containersWithPath(spec, path)) {
    for (const name of linuxOnlyInContainers) {
      if (objectOf(container.securityContext)[name] !== undefined)
        yield field.forbidden(at.child('securityContext', name), message)
    }
  }
}
