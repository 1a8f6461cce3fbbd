import type { Container, Pod, ResourceFieldSelector } from '@coxswain/api/core/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import { parseQuantity } from '@coxswain/apimachinery/quantity'
import { decodeBase64Text } from '@coxswain/kit'
import { expand } from './expand.ts'

/** What the kubelet looks up for a Pod; undefined for objects that do not exist. */
export interface PodSources {
  /** The node's capacity: the limit of a container that has none. */
  readonly capacity: Readonly<Record<string, string>>
  configMap(
    name: string,
  ): Promise<DeepReadonly<{ data?: Record<string, string>; binaryData?: Record<string, string> }> | undefined>
  /** Values in base64. */
  secret(name: string): Promise<DeepReadonly<{ data?: Record<string, string> }> | undefined>
}

/** Something that the Pod refers to is missing: the container waits, with this message. */
export class ConfigError extends Error {
  override readonly name = 'CreateContainerConfigError'
}

/** The environment of a container; later variables override earlier ones. @throws ConfigError */
export async function makeEnvironment(
  pod: DeepReadonly<Pod>,
  container: DeepReadonly<Container>,
  sources: PodSources,
  services: ReadonlyMap<string, string>,
): Promise<Map<string, string>> {
  const own = new Map<string, string>()
  for (const { prefix = '', configMapRef, secretRef } of container.envFrom ?? []) {
    if (configMapRef) {
      const found = await sources.configMap(configMapRef.name ?? '')
      if (!found && !configMapRef.optional)
        throw new ConfigError(`configmap "${configMapRef.name}" not found`)
      for (const [key, value] of Object.entries(found?.data ?? {})) own.set(prefix + key, value)
    }
    if (secretRef) {
      const found = await sources.secret(secretRef.name ?? '')
      if (!found && !secretRef.optional) throw new ConfigError(`secret "${secretRef.name}" not found`)
      for (const [key, value] of Object.entries(found?.data ?? {}))
        own.set(prefix + key, decodeBase64Text(value) ?? '')
    }
  }
  for (const { name, value = '', valueFrom } of container.env ?? []) {
    if (!valueFrom) {
      own.set(
        name,
        expand(value, other => own.get(other) ?? services.get(other)),
      )
      continue
    }
    const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef } = valueFrom
    if (fieldRef) own.set(name, readField(pod, fieldRef.fieldPath))
    else if (resourceFieldRef) {
      const of = { ...resourceFieldRef, containerName: resourceFieldRef.containerName || container.name }
      own.set(name, readResource(pod, of, sources.capacity))
    } else if (configMapKeyRef) {
      const { name: from = '', key, optional } = configMapKeyRef
      const found = ownValue((await sources.configMap(from))?.data, key)
      if (found !== undefined) own.set(name, found)
      else if (!optional)
        throw new ConfigError(`couldn't find key ${key} in ConfigMap ${pod.metadata.namespace}/${from}`)
    } else if (secretKeyRef) {
      const { name: from = '', key, optional } = secretKeyRef
      const found = ownValue((await sources.secret(from))?.data, key)
      if (found !== undefined) own.set(name, decodeBase64Text(found) ?? '')
      else if (!optional)
        throw new ConfigError(`couldn't find key ${key} in Secret ${pod.metadata.namespace}/${from}`)
    }
  }
  const all = new Map(services)
  for (const [name, value] of own) all.set(name, value)
  return all
}

/** A field of the downward API. @throws ConfigError */
export function readField(pod: DeepReadonly<Pod>, path: string): string {
  const { metadata, spec, status } = pod
  const subscript = /^metadata\.(annotations|labels)\['(.*)'\]$/.exec(path)
  if (subscript) {
    const [, kind, key = ''] = subscript
    return ownValue(kind === 'labels' ? metadata.labels : metadata.annotations, key) ?? ''
  }
  switch (path) {
    case 'metadata.name':
      return metadata.name
    case 'metadata.namespace':
      return metadata.namespace ?? ''
    case 'metadata.uid':
      return metadata.uid
    case 'metadata.labels':
      return formatMap(metadata.labels)
    case 'metadata.annotations':
      return formatMap(metadata.annotations)
    case 'spec.nodeName':
      return spec.nodeName ?? ''
    case 'spec.serviceAccountName':
      return spec.serviceAccountName ?? ''
    case 'status.hostIP':
      return status?.hostIP ?? ''
    case 'status.hostIPs':
      return (status?.hostIPs ?? []).map(({ ip }) => ip).join(',')
    case 'status.podIP':
      return status?.podIP ?? ''
    case 'status.podIPs':
      return (status?.podIPs ?? []).map(({ ip }) => ip).join(',')
  }
  throw new ConfigError(`unsupported fieldPath: ${path}`)
}

/** Own properties only: keys such as `constructor` are inherited. */
function ownValue<T>(values: Readonly<Record<string, T>> | undefined, key: string): T | undefined {
  return values && Object.hasOwn(values, key) ? values[key] : undefined
}

function formatMap(map: Readonly<Record<string, string>> | undefined): string {
  const keys = Object.keys(map ?? {}).sort()
  return keys.map(key => `${key}=${JSON.stringify(map![key])}`).join('\n')
}

/** A request or limit in units of `divisor`, rounded up. @throws ConfigError */
export function readResource(
  pod: DeepReadonly<Pod>,
  { containerName = '', resource, divisor }: DeepReadonly<ResourceFieldSelector>,
  capacity: Readonly<Record<string, string>>,
): string {
  const [list, name = ''] = resource.split('.', 2) as [string, string | undefined]
  const all = [...(pod.spec.initContainers ?? []), ...pod.spec.containers]
  const container = all.find(candidate => candidate.name === containerName)
  if (!container) throw new ConfigError(`container ${containerName} not found`)
  const { limits, requests } = container.resources ?? {}
  const text =
    (list === 'limits' ? (ownValue(limits, name) ?? ownValue(capacity, name)) : ownValue(requests, name)) ??
    '0'

  const unit = divisor === undefined || divisor === '0' || divisor === '' ? '1' : divisor
  return String(Math.ceil(numberOf(text) / numberOf(unit)))
}

function numberOf(quantity: string): number {
  return Number(parseQuantity(quantity).milliValue) / 1000
}
