/** Container images written by hand: https://github.com/opencontainers/image-spec, one manifest and uncompressed layers. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, rename, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { runOrFail } from '../../../tools/components/process.ts'

/** A layer that is in the folder of blobs. */
export interface Layer {
  readonly digest: string
  readonly size: number
}

export interface Image {
  /** With the tag, without the registry: `e2e-test-images/busybox:1.37.0-1`. */
  readonly names: readonly string[]
  readonly layers: readonly Layer[]
  readonly config: ImageConfig
}

/** As the image specification spells it. */
export interface ImageConfig {
  readonly Entrypoint?: readonly string[]
  readonly Cmd?: readonly string[]
  readonly User?: string
  readonly WorkingDir?: string
}

export const manifestType = 'application/vnd.oci.image.manifest.v1+json'
const path = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

export const blobFile = (store: string, digest: string): string =>
  join(store, 'blobs', digest.replace(':', '-'))
export const manifestFile = (store: string, name: string, reference: string): string =>
  join(store, 'manifests', name, reference.replace(':', '-'))

/** Stores a folder as a layer: root owns all of it, and nothing in it depends on the time. */
export async function writeLayer(store: string, folder: string): Promise<Layer> {
  await mkdir(join(store, 'blobs'), { recursive: true })
  const partial = join(store, 'blobs', 'partial')
  await runOrFail('tar', [
    ...[
      '--create',
      '--numeric-owner',
      '--owner=0',
      '--group=0',
      '--sort=name',
      '--mtime=@0',
      '--format=posix',
    ],
    ...['--pax-option=delete=atime,delete=ctime', '--file', partial, '--directory', folder, '.'],
  ])
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(partial)) hash.update(chunk as Buffer)
  const digest = `sha256:${hash.digest('hex')}`
  await rename(partial, blobFile(store, digest))
  return { digest, size: (await stat(blobFile(store, digest))).size }
}

/** Stores the configuration and the manifest of an image, under its names and its digest. */
export async function writeImage(store: string, { names, layers, config }: Image): Promise<void> {
  const description = await writeBlob(store, {
    architecture: 'amd64',
    os: 'linux',
    config: { Env: [path], ...config },
    rootfs: { type: 'layers', diff_ids: layers.map(({ digest }) => digest) },
    history: layers.map(() => ({ created_by: 'interop/kubelet/images' })),
  })
  const manifest = JSON.stringify({
    schemaVersion: 2,
    mediaType: manifestType,
    config: { mediaType: 'application/vnd.oci.image.config.v1+json', ...description },
    layers: layers.map(layer => ({ mediaType: 'application/vnd.oci.image.layer.v1.tar', ...layer })),
  })
  for (const name of names) {
    const [repository = '', tag = ''] = name.split(':')
    for (const reference of [tag, digestOf(manifest)]) {
      const file = manifestFile(store, repository, reference)
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, manifest)
    }
  }
}

async function writeBlob(store: string, content: object): Promise<Layer> {
  const text = JSON.stringify(content)
  const digest = digestOf(text)
  await writeFile(blobFile(store, digest), text)
  return { digest, size: Buffer.byteLength(text) }
}

export const digestOf = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`
