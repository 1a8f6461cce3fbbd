import type { Container, Pod, PodSecurityContext, SecurityContext } from '@coxswain/api/core/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import type { Isolation } from './namespaces.ts'

/** Fields that processes do not support. */
const ofSecurity: readonly (keyof SecurityContext)[] = [
  'allowPrivilegeEscalation',
  'appArmorProfile',
  'capabilities',
  'procMount',
  'readOnlyRootFilesystem',
  'seLinuxOptions',
  'seccompProfile',
  'windowsOptions',
]
const ofPodSecurity: readonly (keyof PodSecurityContext)[] = [
  'appArmorProfile',
  'fsGroup',
  'seLinuxOptions',
  'seccompProfile',
  'supplementalGroups',
  'sysctls',
  'windowsOptions',
]

/** The fields of a Pod that have no effect where containers are processes of this machine. `uid` is the user of this process. */
export function findUnsupported(
  { spec }: DeepReadonly<Pod>,
  { uid, isolation }: { readonly uid: number; readonly isolation: Isolation },
): string[] {
  const isIsolated = isolation === 'namespaces'
  const { securityContext = {}, dnsConfig, hostAliases = [], setHostnameAsFQDN, hostUsers } = spec
  const found: string[] = ofPodSecurity
    .filter(name => securityContext[name] !== undefined)
    .map(name => `securityContext.${name}`)
  if (dnsConfig && !isIsolated) found.push('dnsConfig')
  if (hostAliases.length > 0 && !isIsolated) found.push('hostAliases')
  if (setHostnameAsFQDN && !isIsolated) found.push('setHostnameAsFQDN')
  if (hostUsers === false) found.push('hostUsers')
  if (spec.runtimeClassName) found.push('runtimeClassName')
  for (const { name, emptyDir } of spec.volumes ?? [])
    if (emptyDir?.medium) found.push(`volumes{${name}}.emptyDir.medium`)
  const writable = new Set(
    (spec.volumes ?? [])
      .filter(({ emptyDir, hostPath, persistentVolumeClaim, ephemeral }) =>
        Boolean(emptyDir ?? hostPath ?? persistentVolumeClaim ?? ephemeral),
      )
      .map(({ name }) => name),
  )
  const user = (container: DeepReadonly<Container>) =>
    container.securityContext?.runAsUser ?? securityContext.runAsUser ?? uid
  for (const [field, containers] of [
    ['initContainers', spec.initContainers ?? []],
    ['containers', spec.containers],
  ] as const)
    for (const container of containers) {
      const { name, securityContext: own = {}, resources = {}, volumeMounts = [] } = container
      const of = `${field}{${name}}`
      const names = ofSecurity.filter(key => own[key] !== undefined)
      for (const key of names) found.push(`${of}.securityContext.${key}`)
      if (own.privileged) found.push(`${of}.securityContext.privileged`)
      if (uid !== 0 && user(container) !== uid) found.push(`${of}: runAsUser ${user(container)}`)
      const limits = Object.keys(resources.limits ?? {}).filter(key => key !== 'ephemeral-storage')
      for (const key of limits) found.push(`${of}.resources.limits.${key}`)
      if (resources.claims?.length) found.push(`${of}.resources.claims`)
      for (const { name: volume, readOnly, mountPropagation } of volumeMounts) {
        if (readOnly && writable.has(volume) && !isIsolated)
          found.push(`${of}.volumeMounts{${volume}}.readOnly`)
        if (mountPropagation) found.push(`${of}.volumeMounts{${volume}}.mountPropagation`)
      }
    }
  return found
}
