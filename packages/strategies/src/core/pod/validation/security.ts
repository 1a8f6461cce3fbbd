import type {
  AppArmorProfile,
  PodSecurityContext,
  PodSpec,
  SeccompProfile,
  SecurityContext,
} from '@coxswain/api/core/v1'
import * as field from '@coxswain/apimachinery/field'
import { isValidGroupID, isValidUserID } from '@coxswain/apimachinery/validation'
import type { Decoded } from '../../../decoded.ts'
import { goValue } from '../../../shared/go-value.ts'
import { type Findings, invalidBecause, printed, validateOneOf } from '../../../shared/reading.ts'
import { validateDescendingPath } from './paths.ts'
import { validateWindowsOptions } from './windows.ts'

const profileTypes = ['Localhost', 'RuntimeDefault', 'Unconfined']

/** The security settings of all containers of a pod. */
export function* validatePodSecurity(spec: Decoded<PodSpec>, path: field.Path): Findings {
  const context = spec.securityContext
  if (!context) return
  yield* validateIds(context, ['fsGroup', 'runAsUser', 'runAsGroup'], path)
  for (const [index, group] of (context.supplementalGroups as number[] | undefined)?.entries() ?? []) {
    yield* invalidBecause(path.child('supplementalGroups').index(index), group, isValidGroupID(Number(group)))
  }
  if (spec.shareProcessNamespace === true && spec.hostPID === true) {
    const message = 'ShareProcessNamespace and HostPID cannot both be enabled'
    yield field.invalid(path.child('shareProcessNamespace'), true, message)
  }
  yield* validateSysctls(spec, context, path.child('sysctls'))
  if (context.fsGroupChangePolicy !== undefined) {
    const policies = ['Always', 'OnRootMismatch']
    yield* validateOneOf(context.fsGroupChangePolicy, policies, path.child('fsGroupChangePolicy'))
  }
  yield* validateSeccompProfile(context.seccompProfile, path.child('seccompProfile'))
  yield* validateWindowsOptions(context.windowsOptions, path.child('windowsOptions'))
  yield* validateAppArmorProfile(context.appArmorProfile, path.child('appArmorProfile'))
  if (context.supplementalGroupsPolicy !== undefined) {
    const policies = ['Merge', 'Strict']
    yield* validateOneOf(context.supplementalGroupsPolicy, policies, path.child('supplementalGroupsPolicy'))
  }
  if (context.seLinuxChangePolicy !== undefined) {
    yield* validateOneOf(context.seLinuxChangePolicy, ['Recursive'], path.child('seLinuxChangePolicy'))
  }
}

/** The security settings of one container. */
export function* validateContainerSecurity(
  context: Decoded<SecurityContext> | null | undefined,
  path: field.Path,
  hostUsers: boolean,
): Findings {
  if (!context) return
  yield* validateIds(context, ['runAsUser', 'runAsGroup'], path)
  if (context.procMount !== undefined) {
    const at = path.child('procMount')
    yield* validateOneOf(context.procMount, ['Default', 'Unmasked'], at)
    if (hostUsers && context.procMount === 'Unmasked')
      yield field.invalid(at, context.procMount, '`hostUsers` must be false to use `Unmasked`')
  }
  yield* validateSeccompProfile(context.seccompProfile, path.child('seccompProfile'))
  if (context.allowPrivilegeEscalation === false) {
    const refuse = (what: string) =>
      field.invalid(
        path,
        printed(goValue('core.SecurityContext', context)),
        `cannot set \`allowPrivilegeEscalation\` to false and ${what}`,
      )
    if (context.privileged === true) yield refuse('`privileged` to true')
    for (const capability of context.capabilities?.add ?? [])
      if (capability === 'CAP_SYS_ADMIN') yield refuse('`capabilities.Add` CAP_SYS_ADMIN')
  }
  yield* validateWindowsOptions(context.windowsOptions, path.child('windowsOptions'))
  yield* validateAppArmorProfile(context.appArmorProfile, path.child('appArmorProfile'))
}

function* validateIds(
  context: Decoded<PodSecurityContext>,
  members: readonly ('runAsUser' | 'runAsGroup' | 'fsGroup')[],
  path: field.Path,
): Findings {
  for (const member of members) {
    const id = context[member]
    if (id === undefined) continue
    const check = member === 'runAsUser' ? isValidUserID : isValidGroupID
    yield* invalidBecause(path.child(member), id, check(Number(id)))
  }
}

const sysctlPattern = '^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$'
const sysctlRegex = new RegExp(sysctlPattern)
const sysctlMaxLength = 253
const ipcSysctls = new Set(
  ['sem', 'shmall', 'shmmax', 'shmmni', 'shm_rmid_forced', 'shm', 'msgmax', 'msgmnb', 'msgmni', 'msg'].map(
    name => `kernel.${name}`,
  ),
)

function* validateSysctls(
  spec: Decoded<PodSpec>,
  context: Decoded<PodSecurityContext>,
  path: field.Path,
): Findings {
  const seen = new Set<string>()
  for (const [index, sysctl] of (context.sysctls ?? []).entries()) {
    const at = path.index(index).child('name')
    const name = sysctl.name ?? ''
    if (name === '') yield field.required(at)
    else if (name.length > sysctlMaxLength || !sysctlRegex.test(name)) {
      const message = `must have at most ${sysctlMaxLength} characters and match regex ${sysctlPattern}`
      yield field.invalid(at, name, message)
    } else if (seen.has(name)) yield field.duplicate(at, name)
    const namespace = namespaceOf(name)
    if (spec.hostNetwork === true && namespace === 'net')
      yield field.invalid(at, name, "may not be specified when 'hostNetwork' is true")
    else if (spec.hostIPC === true && namespace === 'ipc')
      yield field.invalid(at, name, "may not be specified when 'hostIPC' is true")
    seen.add(name)
  }
}

/** The kernel namespace that a sysctl is a setting of. The first separator decides which of dot and slash separates. */
function namespaceOf(sysctl: string): 'net' | 'ipc' | undefined {
  const first = /[./]/.exec(sysctl)?.[0]
  const swapped = first === '/' ? sysctl.replace(/[./]/g, sign => (sign === '.' ? '/' : '.')) : sysctl
  const name = swapped.split('*')[0]!
  if (name.startsWith('net.')) return 'net'
  return ipcSysctls.has(name) || name.startsWith('fs.mqueue.') ? 'ipc' : undefined
}

function* validateSeccompProfile(
  profile: Decoded<SeccompProfile> | null | undefined,
  path: field.Path,
): Findings {
  if (!profile) return
  const type = profile.type ?? ''
  if (type === '') yield field.required(path.child('type'), 'type is required when seccompProfile is set')
  else if (!profileTypes.includes(type)) yield field.notSupported(path.child('type'), type, profileTypes)
  const at = path.child('localhostProfile')
  if (type !== 'Localhost') {
    if (profile.localhostProfile !== undefined) {
      const shown = printed(goValue('core.SeccompProfile', profile))
      yield field.invalid(at, shown, 'can only be set when seccomp type is Localhost')
    }
  } else if (profile.localhostProfile === undefined) {
    yield field.required(at, 'must be set when seccomp type is Localhost')
  } else {
    yield* validateDescendingPath(profile.localhostProfile ?? '', at)
  }
}

const maxProfileLength = 4095

function* validateAppArmorProfile(
  profile: Decoded<AppArmorProfile> | null | undefined,
  path: field.Path,
): Findings {
  if (!profile) return
  const { type } = profile
  const name = profile.localhostProfile
  const at = path.child('localhostProfile')
  if (type === 'Localhost') {
    const missing = field.required(at, 'must be set when AppArmor type is Localhost')
    if (name === undefined) {
      yield missing
      return
    }
    const text = name ?? ''
    if (text.trim() !== text) yield field.invalid(at, text, 'must not be padded with whitespace')
    else if (text === '') yield missing
    if (text.length > maxProfileLength) yield field.tooLong(at, maxProfileLength)
  } else if (type === 'RuntimeDefault' || type === 'Unconfined') {
    if (name !== undefined) yield field.invalid(at, name, 'can only be set when AppArmor type is Localhost')
  } else if ((type ?? '') === '') {
    yield field.required(path.child('type'), 'type is required when appArmorProfile is set')
  } else {
    yield field.notSupported(path.child('type'), type, profileTypes)
  }
}
