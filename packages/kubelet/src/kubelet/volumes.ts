import type {
  KeyToPath,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  Volume,
  VolumeProjection,
} from '@coxswain/api/core/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import { decodeBase64, encodeText } from '@coxswain/kit'
import type { PodVolume, VolumeFile } from '../container-runtime.ts'
import { ConfigError, type PodSources, readField, readResource } from './environment.ts'

export interface VolumeSources extends PodSources {
  /** A token of the Pod's service account, bound to the Pod. */
  token(audience: string | undefined, expirationSeconds: number | undefined): Promise<string>
  claim(name: string): Promise<DeepReadonly<PersistentVolumeClaim> | undefined>
  volume(name: string): Promise<DeepReadonly<PersistentVolume> | undefined>
}

const defaultMode = 0o644

/** Whether the Pod has volumes whose source may change. */
export function needsRefresh({ spec }: DeepReadonly<Pod>): boolean {
  return (spec.volumes ?? []).some(
    ({ configMap, secret, downwardAPI, projected }) => configMap ?? secret ?? downwardAPI ?? projected,
  )
}

/** Whether the Pod has files of the downward API. */
export function usesDownwardAPI({ spec }: DeepReadonly<Pod>): boolean {
  return (spec.volumes ?? []).some(
    ({ downwardAPI, projected }) => downwardAPI ?? projected?.sources?.some(source => source.downwardAPI),
  )
}

/**
 * The content of a Pod's volumes. On simulated nodes, volumes of unsupported types are empty directories.
 * @throws ConfigError for sources that do not exist yet
 */
export async function resolveVolumes(
  pod: DeepReadonly<Pod>,
  sources: VolumeSources,
  isSimulated = false,
): Promise<PodVolume[]> {
  const resolved: PodVolume[] = []
  for (const volume of pod.spec.volumes ?? []) {
    try {
      resolved.push(await resolveVolume(pod, volume, sources, isSimulated))
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error)
      throw new ConfigError(`MountVolume.SetUp failed for volume "${volume.name}" : ${text}`)
    }
  }
  return resolved
}

async function resolveVolume(
  pod: DeepReadonly<Pod>,
  volume: DeepReadonly<Volume>,
  sources: VolumeSources,
  isSimulated: boolean,
): Promise<PodVolume> {
  const { name, emptyDir, hostPath, configMap, secret, downwardAPI, projected } = volume
  const { persistentVolumeClaim, ephemeral } = volume
  const files = new Map<string, VolumeFile>()
  if (emptyDir) return { type: 'directory', name }
  if (hostPath) {
    return { type: 'host', name, path: hostPath.path, hostPathType: hostPath.type ?? '' }
  }
  const claim = persistentVolumeClaim?.claimName ?? (ephemeral && `${pod.metadata.name}-${name}`)
  if (claim !== undefined) return await resolveClaim(name, claim, sources, isSimulated)
  if (configMap) {
    await addProjection(pod, files, { configMap }, configMap.defaultMode, sources)
  } else if (secret) {
    const { secretName, defaultMode: mode, ...rest } = secret
    const from = { ...rest, ...(secretName !== undefined && { name: secretName }) }
    await addProjection(pod, files, { secret: from }, mode, sources)
  } else if (downwardAPI) {
    await addProjection(pod, files, { downwardAPI }, downwardAPI.defaultMode, sources)
  } else if (isSimulated && projected?.sources?.some(({ serviceAccountToken }) => serviceAccountToken)) {
    return { type: 'directory', name } // the token volume that every Pod has
  } else if (projected) {
    for (const source of projected.sources ?? [])
      await addProjection(pod, files, source, projected.defaultMode, sources)
  } else if (!isSimulated) {
    throw new ConfigError(`volume ${name} has a type that this node does not support`)
  }
  return { type: 'files', name, files }
}

/** The directory behind a claim that is bound to a hostPath or local volume. */
async function resolveClaim(
  name: string,
  claim: string,
  sources: VolumeSources,
  isSimulated: boolean,
): Promise<PodVolume> {
  const found = await sources.claim(claim)
  if (!found) throw new ConfigError(`persistentvolumeclaim "${claim}" not found`)
  const { volumeName } = found.spec ?? {}
  if (!volumeName || found.status?.phase !== 'Bound') throw new ConfigError('PVC is not bound')
  if (isSimulated) return { type: 'directory', name }
  const { hostPath, local } = (await sources.volume(volumeName))?.spec ?? {}
  const path = hostPath?.path ?? local?.path
  if (path === undefined) throw new ConfigError(`volume ${volumeName} is not a hostPath or local volume`)
  return { type: 'host', name, path, hostPathType: hostPath ? (hostPath.type ?? '') : 'Existing' }
}

async function addProjection(
  pod: DeepReadonly<Pod>,
  files: Map<string, VolumeFile>,
  source: DeepReadonly<VolumeProjection>,
  mode = defaultMode,
  sources: VolumeSources,
): Promise<void> {
  const { configMap, secret, downwardAPI, serviceAccountToken } = source
  if (configMap) {
    const found = await sources.configMap(configMap.name ?? '')
    if (!found && !configMap.optional) throw new ConfigError(`configmap "${configMap.name}" not found`)
    const content = new Map<string, Uint8Array>()
    for (const [key, value] of Object.entries(found?.data ?? {})) content.set(key, encodeText(value))
    for (const [key, value] of Object.entries(found?.binaryData ?? {}))
      content.set(key, decodeBase64(value) ?? new Uint8Array())
    addKeys(files, content, configMap, mode, 'configmap references non-existent config key')
  }
  if (secret) {
    const found = await sources.secret(secret.name ?? '')
    if (!found && !secret.optional) throw new ConfigError(`secret "${secret.name}" not found`)
    const content = new Map<string, Uint8Array>()
    for (const [key, value] of Object.entries(found?.data ?? {}))
      content.set(key, decodeBase64(value) ?? new Uint8Array())
    addKeys(files, content, secret, mode, 'references non-existent secret key')
  }
  for (const { path, fieldRef, resourceFieldRef, mode: own } of downwardAPI?.items ?? []) {
    const text = fieldRef
      ? readField(pod, fieldRef.fieldPath)
      : resourceFieldRef
        ? readResource(pod, resourceFieldRef, sources.capacity)
        : ''
    files.set(path, { data: encodeText(text), mode: own ?? mode })
  }
  if (serviceAccountToken) {
    const { audience, expirationSeconds, path } = serviceAccountToken
    const token = await sources.token(audience, expirationSeconds)
    const users = usersOf(pod)
    const [owner] = users
    // As a kubelet does it: for one user alone, or readable by all users that containers run as.
    if (users.size > 1) files.set(path, { data: encodeText(token), mode })
    else files.set(path, { data: encodeText(token), mode: 0o600, ...(owner !== undefined && { owner }) })
  }
}

/** The users that the containers of a Pod run as; undefined is the one that the Pod does not name. */
function usersOf({ spec }: DeepReadonly<Pod>): ReadonlySet<number | undefined> {
  const all = [...(spec.initContainers ?? []), ...spec.containers]
  return new Set(
    all.map(({ securityContext }) => securityContext?.runAsUser ?? spec.securityContext?.runAsUser),
  )
}

function addKeys(
  files: Map<string, VolumeFile>,
  content: ReadonlyMap<string, Uint8Array>,
  { items, optional }: { readonly items?: DeepReadonly<KeyToPath[]>; readonly optional?: boolean },
  mode: number,
  complaint: string,
): void {
  if (!items || items.length === 0) {
    for (const [key, data] of content) files.set(key, { data, mode })
    return
  }
  for (const { key, path, mode: own } of items) {
    const data = content.get(key)
    if (data) files.set(path, { data, mode: own ?? mode })
    else if (!optional) throw new ConfigError(`${complaint}: ${key}`)
  }
}
