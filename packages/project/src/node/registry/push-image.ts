import { ProjectError } from '../../errors.ts'
import {
  type Descriptor,
  emptyJson,
  emptyJsonDigest,
  encodeDocument,
  imageIndex,
  referrerManifest,
} from '../../image/documents.ts'
import { mediaTypes } from '../../image/media-types.ts'
import type { ImageReference } from '../../image/reference.ts'
import { type Blob, describeBytes, memoryBlob } from '../image/blob.ts'
import { type Image, readIndex } from '../image/image-source.ts'
import type { BlobOutcome, Repository } from './registry.ts'

/** Options of a push. */
export interface PushOptions {
  /** Called for each layer and configuration. */
  readonly onBlob?: (descriptor: Descriptor, outcome: BlobOutcome) => void
}

/** How many blobs are sent at one time. */
const atOnce = 3

/** Pushes blobs, then manifests, then the names: a name never refers to an image that is not whole. */
export async function pushImage(
  image: Image,
  repository: Repository,
  { tags, onBlob = () => {} }: PushOptions & { readonly tags: readonly ImageReference[] },
): Promise<void> {
  const blobs = image.manifests.flatMap(({ config, layers }) => [...layers, config])
  await pushBlobs(
    [...new Map(blobs.map(blob => [blob.descriptor.digest, blob])).values()],
    repository,
    onBlob,
  )
  for (const { descriptor, bytes } of image.manifests)
    if (descriptor.digest !== image.root.digest)
      await repository.putManifest(descriptor.digest, descriptor.mediaType, bytes)
  const names = [...new Set(tags.flatMap(tag => (tag.tag === undefined ? [] : [tag.tag])))]
  for (const name of names.length > 0 ? names : [image.root.digest])
    await repository.putManifest(name, image.root.mediaType, image.bytes)
}

async function pushBlobs(
  blobs: readonly Blob[],
  repository: Repository,
  onBlob: NonNullable<PushOptions['onBlob']>,
): Promise<void> {
  const waiting = blobs.values()
  let failed = false
  const work = async () => {
    for (const blob of waiting) {
      if (failed) return
      try {
        onBlob(blob.descriptor, await repository.putBlob(blob))
      } catch (error) {
        failed = true
        throw error
      }
    }
  }
  const results = await Promise.allSettled(Array.from({ length: atOnce }, work))
  for (const result of results) if (result.status === 'rejected') throw result.reason
}

/**
 * Attaches a document to an image, so that `referrers` of it lists the document. A registry without that API has the list in an index under the tag
 * that the distribution specification names for it.
 */
export async function attachDocument(
  repository: Repository,
  subject: Descriptor,
  document: Uint8Array,
): Promise<Descriptor> {
  const layer = describeBytes(mediaTypes.spdx, document)
  const empty = { mediaType: mediaTypes.empty, digest: emptyJsonDigest, size: emptyJson.length }
  await repository.putBlob(memoryBlob(layer, document))
  await repository.putBlob(memoryBlob(empty, emptyJson))
  const bytes = encodeDocument(referrerManifest(subject, layer))
  const descriptor = { ...describeBytes(mediaTypes.manifest, bytes), artifactType: layer.mediaType }
  const listed = await repository.putManifest(descriptor.digest, descriptor.mediaType, bytes)
  if (listed === undefined) await addToList(repository, subject, descriptor)
  return descriptor
}

async function addToList(repository: Repository, subject: Descriptor, referrer: Descriptor): Promise<void> {
  const tag = subject.digest.replace(':', '-')
  const found = await repository.findManifest(tag)
  const present = found === undefined ? [] : readIndex(found, tag).manifests
  if (present.some(each => each.digest === referrer.digest)) return
  if (present.length >= 1000)
    throw new ProjectError('RegistryFailed', `the list of referrers of ${subject.digest} is too long`)
  await repository.putManifest(tag, mediaTypes.index, encodeDocument(imageIndex([...present, referrer])))
}
