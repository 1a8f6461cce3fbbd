import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { listOf, numberOf, objectOf, recordOf, stringsOf, textOf } from '@coxswain/strategies'

/** From the least to the most restrictive. */
export const levels = ['privileged', 'baseline', 'restricted'] as const
export type Level = (typeof levels)[number]

/** A violation: its reason, and the details shown in brackets. */
export interface Violation {
  readonly reason: string
  readonly detail: string
}

interface PodView {
  readonly annotations: Readonly<Record<string, string>>
  readonly spec: JsonObject
  readonly containers: readonly JsonObject[]
}

type Check = (pod: PodView) => Violation | undefined

const plural = (one: string, many: string, count: number): string => (count === 1 ? one : many)
const quoteAll = (values: Iterable<string>): string =>
  [...values].map(value => JSON.stringify(value)).join(', ')
const sorted = (values: Iterable<string>): string[] => [...new Set(values)].sort()
const contextOf = (object: JsonObject): JsonObject => objectOf(object.securityContext)
const nameOf = (container: JsonObject): string => textOf(container.name)
const isWindows = ({ spec }: PodView): boolean => objectOf(spec.os).name === 'windows'
/** Root in a user namespace is unprivileged outside it. */
const hasOwnUsers = ({ spec }: PodView): boolean => spec.hostUsers === false

const naming = (names: readonly string[]): string =>
  `${plural('container', 'containers', names.length)} ${quoteAll(names)}`

/** The names of the containers for which `isBad` is true. */
const badOnes = ({ containers }: PodView, isBad: (container: JsonObject) => boolean): string[] =>
  containers.filter(isBad).map(nameOf)

/** The Pod itself and its containers whose security settings are bad. */
function badSetters(pod: PodView, isBad: (context: JsonObject) => boolean): string[] {
  const names = badOnes(pod, container => isBad(contextOf(container)))
  return [...(isBad(contextOf(pod.spec)) ? ['pod'] : []), ...(names.length > 0 ? [naming(names)] : [])]
}

const settersText = (setters: readonly string[]): string => setters.join(' and ')

const appArmorPrefix = 'container.apparmor.security.beta.kubernetes.io/'

const appArmorProfile: Check = pod => {
  const typeOf = (context: JsonObject) =>
    isObject(context.appArmorProfile) ? textOf(context.appArmorProfile.type) : undefined
  const isBad = (context: JsonObject) => {
    const type = typeOf(context)
    return type !== undefined && type !== 'RuntimeDefault' && type !== 'Localhost'
  }
  const contexts = [contextOf(pod.spec), ...pod.containers.map(contextOf)]
  const annotations = Object.entries(pod.annotations)
    .filter(
      ([key, value]) =>
        key.startsWith(appArmorPrefix) &&
        value !== '' &&
        value !== 'runtime/default' &&
        !value.startsWith('localhost/'),
    )
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .sort()
  const setters = badSetters(pod, isBad)
  if (annotations.length > 0) setters.push(plural('annotation', 'annotations', annotations.length))
  if (setters.length === 0) return undefined
  const values = [...sorted(contexts.filter(isBad).map(context => typeOf(context)!)), ...annotations]
  return {
    reason: plural('forbidden AppArmor profile', 'forbidden AppArmor profiles', values.length),
    detail: `${settersText(setters)} must not set AppArmor profile type to ${quoteAll(values)}`,
  }
}

const defaultCapabilities = new Set([
  ...['AUDIT_WRITE', 'CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'KILL', 'MKNOD', 'NET_BIND_SERVICE'],
  ...['SETFCAP', 'SETGID', 'SETPCAP', 'SETUID', 'SYS_CHROOT'],
])
const addedTo = (container: JsonObject): string[] =>
  stringsOf(objectOf(contextOf(container).capabilities).add)

/** Containers that add capabilities which are not allowed, and those capabilities. */
function addedBeyond(pod: PodView, isAllowed: (name: string) => boolean): string | undefined {
  const names = badOnes(pod, container => !addedTo(container).every(isAllowed))
  if (names.length === 0) return undefined
  const forbidden = sorted(pod.containers.flatMap(addedTo).filter(name => !isAllowed(name)))
  return `${naming(names)} must not include ${quoteAll(forbidden)} in securityContext.capabilities.add`
}

const capabilitiesBaseline: Check = pod => {
  const detail = addedBeyond(pod, name => defaultCapabilities.has(name))
  return detail === undefined ? undefined : { reason: 'non-default capabilities', detail }
}

const capabilitiesRestricted: Check = pod => {
  if (isWindows(pod)) return undefined
  const keeping = badOnes(
    pod,
    container => !stringsOf(objectOf(contextOf(container).capabilities).drop).includes('ALL'),
  )
  const adding = addedBeyond(pod, name => name === 'NET_BIND_SERVICE')
  const details = [
    ...(keeping.length > 0 ? [`${naming(keeping)} must set securityContext.capabilities.drop=["ALL"]`] : []),
    ...(adding === undefined ? [] : [adding]),
  ]
  if (details.length === 0) return undefined
  return { reason: 'unrestricted capabilities', detail: details.join('; ') }
}

const hostNamespaces: Check = ({ spec }) => {
  const shared = ['hostNetwork', 'hostPID', 'hostIPC'].filter(name => spec[name] === true)
  if (shared.length === 0) return undefined
  return { reason: 'host namespaces', detail: shared.map(name => `${name}=true`).join(', ') }
}

const hostPathVolumes: Check = ({ spec }) => {
  const names = listOf(spec.volumes)
    .filter(({ hostPath }) => hostPath !== undefined)
    .map(nameOf)
  if (names.length === 0) return undefined
  return {
    reason: 'hostPath volumes',
    detail: `${plural('volume', 'volumes', names.length)} ${quoteAll(names)}`,
  }
}

const hostPorts: Check = pod => {
  const portsOf = (container: JsonObject) =>
    listOf(container.ports)
      .map(({ hostPort }) => numberOf(hostPort))
      .filter(port => port !== 0)
  const names = badOnes(pod, container => portsOf(container).length > 0)
  if (names.length === 0) return undefined
  const ports = sorted(pod.containers.flatMap(portsOf).map(String))
  const uses = `${plural('uses', 'use', names.length)} ${plural('hostPort', 'hostPorts', ports.length)}`
  return { reason: 'hostPort', detail: `${naming(names)} ${uses} ${ports.join(', ')}` }
}

const hostProbes: Check = pod => {
  const hostsOf = (container: JsonObject): string[] => {
    const { livenessProbe, readinessProbe, startupProbe, lifecycle } = container
    const { postStart, preStop } = objectOf(lifecycle)
    return [livenessProbe, readinessProbe, startupProbe, postStart, preStop]
      .flatMap(handler => [objectOf(handler).httpGet, objectOf(handler).tcpSocket])
      .map(action => textOf(objectOf(action).host))
      .filter(Boolean)
  }
  const names = sorted(badOnes(pod, container => hostsOf(container).length > 0))
  if (names.length === 0) return undefined
  const hosts = sorted(pod.containers.flatMap(hostsOf))
  const what = plural('probe or lifecycle host', 'probe or lifecycle hosts', hosts.length)
  const uses = `${plural('uses', 'use', names.length)} ${what}`
  return { reason: 'probe or lifecycle host', detail: `${naming(names)} ${uses} ${quoteAll(hosts)}` }
}

const privileged: Check = pod => {
  const names = badOnes(pod, container => contextOf(container).privileged === true)
  if (names.length === 0) return undefined
  return { reason: 'privileged', detail: `${naming(names)} must not set securityContext.privileged=true` }
}

const procMount: Check = pod => {
  const typeOf = (container: JsonObject) => textOf(contextOf(container).procMount) || 'Default'
  const names = badOnes(pod, container => typeOf(container) !== 'Default')
  if (names.length === 0) return undefined
  const types = sorted(pod.containers.map(typeOf).filter(type => type !== 'Default'))
  return {
    reason: 'procMount',
    detail: `${naming(names)} must not set securityContext.procMount to ${quoteAll(types)}`,
  }
}

const seLinuxTypes = new Set(['', 'container_t', 'container_init_t', 'container_kvm_t', 'container_engine_t'])

const seLinuxOptions: Check = pod => {
  const isBad = ({ seLinuxOptions: options }: JsonObject) =>
    isObject(options) &&
    (!seLinuxTypes.has(textOf(options.type)) || textOf(options.user) !== '' || textOf(options.role) !== '')
  const setters = badSetters(pod, isBad)
  if (setters.length === 0) return undefined
  const all = [contextOf(pod.spec), ...pod.containers.map(contextOf)].map(context =>
    objectOf(context.seLinuxOptions),
  )
  const types = sorted(all.map(({ type }) => textOf(type)).filter(type => !seLinuxTypes.has(type)))
  const data = [
    ...(types.length > 0 ? [`${plural('type', 'types', types.length)} ${quoteAll(types)}`] : []),
    ...(all.some(({ user }) => textOf(user) !== '') ? ['user may not be set'] : []),
    ...(all.some(({ role }) => textOf(role) !== '') ? ['role may not be set'] : []),
  ]
  const detail = `${settersText(setters)} set forbidden securityContext.seLinuxOptions: ${data.join('; ')}`
  return { reason: 'seLinuxOptions', detail }
}

const seccompOf = (context: JsonObject): string | undefined =>
  isObject(context.seccompProfile) ? textOf(context.seccompProfile.type) : undefined
const isBadSeccomp = (context: JsonObject): boolean => {
  const type = seccompOf(context)
  return type !== undefined && type !== 'Localhost' && type !== 'RuntimeDefault'
}

const seccompBaseline: Check = pod => {
  const setters = badSetters(pod, isBadSeccomp)
  if (setters.length === 0) return undefined
  const contexts = [contextOf(pod.spec), ...pod.containers.map(contextOf)]
  const values = sorted(contexts.filter(isBadSeccomp).map(context => seccompOf(context)!))
  const detail = `${settersText(setters)} must not set securityContext.seccompProfile.type to ${quoteAll(values)}`
  return { reason: 'seccompProfile', detail }
}

const seccompRestricted: Check = pod => {
  if (isWindows(pod)) return undefined
  const bad = seccompBaseline(pod)
  if (bad || seccompOf(contextOf(pod.spec)) !== undefined) return bad
  const names = badOnes(pod, container => seccompOf(contextOf(container)) === undefined)
  if (names.length === 0) return undefined
  const detail = `pod or ${naming(names)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`
  return { reason: 'seccompProfile', detail }
}

const safeSysctls = new Set([
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
  'net.ipv4.ip_unprivileged_port_start',
  'net.ipv4.ip_local_reserved_ports',
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
  'net.ipv4.tcp_rmem',
  'net.ipv4.tcp_wmem',
])

const sysctls: Check = ({ spec }) => {
  const names = listOf(contextOf(spec).sysctls)
    .map(nameOf)
    .filter(name => !safeSysctls.has(name))
  return names.length === 0 ? undefined : { reason: 'forbidden sysctls', detail: names.join(', ') }
}

const windowsHostProcess: Check = pod => {
  const setters = badSetters(pod, context => objectOf(context.windowsOptions).hostProcess === true)
  if (setters.length === 0) return undefined
  const detail = `${settersText(setters)} must not set securityContext.windowsOptions.hostProcess=true`
  return { reason: 'hostProcess', detail }
}

const allowPrivilegeEscalation: Check = pod => {
  if (isWindows(pod)) return undefined
  const names = badOnes(pod, container => contextOf(container).allowPrivilegeEscalation !== false)
  if (names.length === 0) return undefined
  const detail = `${naming(names)} must set securityContext.allowPrivilegeEscalation=false`
  return { reason: 'allowPrivilegeEscalation != false', detail }
}

const harmlessVolumes = [
  ...['configMap', 'csi', 'downwardAPI', 'emptyDir', 'ephemeral', 'image', 'persistentVolumeClaim'],
  ...['projected', 'secret'],
]

const restrictedVolumes: Check = ({ spec }) => {
  const bad = listOf(spec.volumes).filter(volume => !harmlessVolumes.some(type => volume[type] !== undefined))
  if (bad.length === 0) return undefined
  const types = sorted(bad.map(volume => Object.keys(volume).find(key => key !== 'name') ?? 'unknown'))
  const names = `${plural('volume', 'volumes', bad.length)} ${quoteAll(bad.map(nameOf))}`
  const what = plural('restricted volume type', 'restricted volume types', types.length)
  const detail = `${names} ${plural('uses', 'use', bad.length)} ${what} ${quoteAll(types)}`
  return { reason: 'restricted volume types', detail }
}

const runAsNonRoot: Check = pod => {
  if (hasOwnUsers(pod)) return undefined
  const reason = 'runAsNonRoot != true'
  const setters = badSetters(pod, context => context.runAsNonRoot === false)
  if (setters.length > 0) {
    return { reason, detail: `${settersText(setters)} must not set securityContext.runAsNonRoot=false` }
  }
  if (contextOf(pod.spec).runAsNonRoot === true) return undefined
  const names = badOnes(pod, container => contextOf(container).runAsNonRoot === undefined)
  if (names.length === 0) return undefined
  return { reason, detail: `pod or ${naming(names)} must set securityContext.runAsNonRoot=true` }
}

const runAsUser: Check = pod => {
  if (hasOwnUsers(pod)) return undefined
  const setters = badSetters(pod, ({ runAsUser: user }) => user !== undefined && Number(user) === 0)
  if (setters.length === 0) return undefined
  return { reason: 'runAsUser=0', detail: `${settersText(setters)} must not set runAsUser=0` }
}

/** In the order in which violations are listed. */
const baselineChecks: readonly Check[] = [
  appArmorProfile,
  capabilitiesBaseline,
  hostNamespaces,
  hostPathVolumes,
  hostPorts,
  hostProbes,
  privileged,
  pod => (hasOwnUsers(pod) ? undefined : procMount(pod)),
  seLinuxOptions,
  seccompBaseline,
  sysctls,
  windowsHostProcess,
]
/** The restricted checks, after the baseline checks that they do not replace. */
const restrictedChecks: readonly Check[] = [
  appArmorProfile,
  hostNamespaces,
  hostPorts,
  hostProbes,
  privileged,
  seLinuxOptions,
  sysctls,
  windowsHostProcess,
  allowPrivilegeEscalation,
  capabilitiesRestricted,
  procMount,
  restrictedVolumes,
  runAsNonRoot,
  runAsUser,
  seccompRestricted,
]

/** How a Pod, or the Pod of a template, violates a level. By the standard of the current version. */
export function violationsOf(level: Level, metadata: JsonObject, spec: JsonObject): Violation[] {
  if (level === 'privileged') return []
  const containers = ['initContainers', 'containers', 'ephemeralContainers'].flatMap(kind =>
    listOf(spec[kind]),
  )
  const pod = { annotations: recordOf(metadata.annotations), spec, containers }
  return (level === 'baseline' ? baselineChecks : restrictedChecks).flatMap(check => check(pod) ?? [])
}
