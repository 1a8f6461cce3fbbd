import { encodeText } from '@coxswain/kit'
import { mediaTypes } from './media-types.ts'
import type { Platform } from './platform.ts'

/** A reference to bytes by their digest. */
export interface Descriptor {
  readonly mediaType: string
  readonly digest: string
  readonly size: number
  readonly annotations?: Readonly<Record<string, string>>
  readonly platform?: Platform
  readonly artifactType?: string
}

/** An OCI image manifest: a configuration and its layers. */
export interface ImageManifest {
  readonly schemaVersion: 2
  readonly mediaType?: string
  readonly artifactType?: string
  readonly config: Descriptor
  readonly layers: readonly Descriptor[]
  readonly subject?: Descriptor
  readonly annotations?: Readonly<Record<string, string>>
}

/** An OCI image index: one manifest for each platform. */
export interface ImageIndex {
  readonly schemaVersion: 2
  readonly mediaType?: string
  readonly manifests: readonly Descriptor[]
  readonly annotations?: Readonly<Record<string, string>>
}

/** What a runtime does with the image; fields that only a base image sets are kept as they are. */
export interface ImageConfig {
  readonly created?: string
  readonly architecture: string
  readonly os: string
  readonly variant?: string
  readonly config?: Readonly<Record<string, unknown>> & {
    readonly Env?: readonly string[]
    readonly Entrypoint?: readonly string[]
    readonly Labels?: Readonly<Record<string, string>>
  }
  readonly rootfs: { readonly type: 'layers'; readonly diff_ids: readonly string[] }
  readonly history?: readonly HistoryEntry[]
}

export interface HistoryEntry {
  readonly created?: string
  readonly created_by?: string
  readonly comment?: string
  readonly empty_layer?: boolean
}

/** What the image adds to its base. */
export interface ConfigAddition {
  readonly created: string
  readonly layers: readonly { readonly diffId: string; readonly title: string }[]
  readonly entrypoint: readonly string[]
  readonly cmd: readonly string[]
  readonly workingDirectory: string
  readonly user: string
  readonly env: Readonly<Record<string, string>>
  readonly labels: Readonly<Record<string, string>>
}

/** The configuration of a base with layers added; the base's volumes, ports and health check stay, its command does not. */
export function extendConfig(base: ImageConfig, addition: ConfigAddition): ImageConfig {
  const { created, layers } = addition
  const kept = (base.config?.Env ?? []).filter(line => !Object.hasOwn(addition.env, line.split('=', 1)[0]!))
  return {
    created,
    architecture: base.architecture,
    os: base.os,
    ...(base.variant !== undefined && { variant: base.variant }),
    config: {
      ...base.config,
      User: addition.user,
      Env: [...kept, ...Object.entries(addition.env).map(([name, value]) => `${name}=${value}`)],
      Entrypoint: [...addition.entrypoint],
      Cmd: [...addition.cmd],
      WorkingDir: addition.workingDirectory,
      Labels: sorted({ ...base.config?.Labels, ...addition.labels }),
    },
    rootfs: { type: 'layers', diff_ids: [...base.rootfs.diff_ids, ...layers.map(layer => layer.diffId)] },
    history: [
      ...(base.history ?? []),
      ...layers.map(({ title }) => ({ created, created_by: 'coxswain image build', comment: title })),
    ],
  }
}

/** The configuration that `scratch` stands for. */
export function emptyConfig({ os, architecture, variant }: Platform): ImageConfig {
  return {
    architecture,
    os,
    ...(variant !== undefined && { variant }),
    config: { Env: ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'] },
    rootfs: { type: 'layers', diff_ids: [] },
  }
}

/** Creates the manifest of one platform. */
export function imageManifest(
  config: Descriptor,
  layers: readonly Descriptor[],
  annotations: Readonly<Record<string, string>>,
): ImageManifest {
  return {
    schemaVersion: 2,
    mediaType: mediaTypes.manifest,
    config,
    layers,
    annotations: sorted(annotations),
  }
}

/** Creates an index of manifests. */
export function imageIndex(
  manifests: readonly Descriptor[],
  annotations: Readonly<Record<string, string>> = {},
): ImageIndex {
  const hasSome = Object.keys(annotations).length > 0
  return {
    schemaVersion: 2,
    mediaType: mediaTypes.index,
    manifests,
    ...(hasSome && { annotations: sorted(annotations) }),
  }
}

/** A manifest that says about `subject` what `layer` has. */
export function referrerManifest(subject: Descriptor, layer: Descriptor): ImageManifest {
  return {
    schemaVersion: 2,
    mediaType: mediaTypes.manifest,
    artifactType: layer.mediaType,
    config: { mediaType: mediaTypes.empty, digest: emptyJsonDigest, size: 2 },
    layers: [layer],
    subject: { mediaType: subject.mediaType, digest: subject.digest, size: subject.size },
  }
}

/** The configuration of an artifact, and its digest. */
export const emptyJson: Uint8Array = encodeText('{}')
export const emptyJsonDigest = 'sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a'

/** The bytes of a document: their digest is its name, so its members keep the order in which they were made. */
export function encodeDocument(document: object): Uint8Array {
  return encodeText(JSON.stringify(document))
}

function sorted(map: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
}
