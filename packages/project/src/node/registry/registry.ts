import { ProjectError } from '../../errors.ts'
import type { Descriptor } from '../../image/documents.ts'
import { mediaTypes } from '../../image/media-types.ts'
import { formatReference, type ImageReference, isDigest } from '../../image/reference.ts'
import { type Blob, digestOf, verifyBytes } from '../image/blob.ts'
import { type ImageSource, maxDocument } from '../image/image-source.ts'
import type { RegistryConnection } from './connection.ts'
import { readBody } from './http.ts'

const documentTypes = [
  mediaTypes.index,
  mediaTypes.manifest,
  mediaTypes.dockerIndex,
  mediaTypes.dockerManifest,
].join(', ')

/** How a blob came to be in the registry. */
export type BlobOutcome = 'present' | 'mounted' | 'uploaded'

/** A repository of a registry, by the OCI distribution specification. */
export class Repository {
  readonly #connection: RegistryConnection
  readonly #name: string

  constructor(connection: RegistryConnection, name: string) {
    this.#connection = connection
    this.#name = name
  }

  get #path(): string {
    return `/v2/${this.#name}`
  }

  /** Opens an image for reading. */
  async open(reference: ImageReference): Promise<ImageSource> {
    const name = formatReference(reference)
    const version = reference.digest ?? reference.tag ?? 'latest'
    const { bytes, mediaType } = await this.#getManifest(version, name)
    const digest = digestOf(bytes)
    if (reference.digest !== undefined && reference.digest !== digest)
      throw new ProjectError('BadImage', `${name}: the registry sent a manifest with the digest ${digest}`)
    const root = { mediaType, digest, size: bytes.length }
    return {
      name,
      root,
      read: async descriptor => {
        if (descriptor.digest === digest) return bytes
        const isManifest = documentTypes.includes(descriptor.mediaType)
        return isManifest
          ? (await this.#getManifest(descriptor.digest, name)).bytes
          : await this.#getDocument(descriptor, name)
      },
      blob: descriptor => this.#blob(descriptor, name),
    }
  }

  /** Gives an image a name, or writes a manifest under its digest. Gives the digest of the subject that the registry has listed it for. */
  async putManifest(version: string, mediaType: string, bytes: Uint8Array): Promise<string | undefined> {
    return await this.#connection.retry(async () => {
      const response = await this.#connection.send({
        method: 'PUT',
        url: `${this.#path}/manifests/${version}`,
        headers: { 'content-type': mediaType },
        scopes: this.#scopes('pull,push'),
        body: { length: bytes.length, open: () => once(bytes) },
      })
      const subject = response.header('oci-subject')
      const digest = response.header('docker-content-digest')
      response.discard()
      if (digest !== undefined && digest !== digestOf(bytes))
        throw new ProjectError(
          'RegistryFailed',
          `${this.#connection.registry}: stored ${digestOf(bytes)} as ${digest.slice(0, 100)}`,
        )
      return subject
    })
  }

  /** The bytes of a manifest or index; undefined when there is none of that name. */
  async findManifest(version: string): Promise<Uint8Array | undefined> {
    return await this.#connection.retry(async () => {
      const response = await this.#getVersion(version, [404])
      if (response.status !== 404) return await readBody(response, maxDocument, version)
      response.discard()
      return undefined
    })
  }

  /** Uploads a blob that the registry does not have yet. */
  async putBlob(blob: Blob): Promise<BlobOutcome> {
    return await this.#connection.retry(() => this.#putBlob(blob))
  }

  async #putBlob(blob: Blob): Promise<BlobOutcome> {
    const { digest, size } = blob.descriptor
    const scopes = this.#scopes('pull,push')
    const found = await this.#connection.send(
      { method: 'HEAD', url: `${this.#path}/blobs/${digest}`, scopes },
      [404],
    )
    found.discard()
    if (found.status !== 404) return 'present'
    const { location } = blob
    const source = location?.registry === this.#connection.registry ? location.repository : undefined
    const mount = source === undefined ? '' : `?${new URLSearchParams({ mount: digest, from: source })}`
    const begun = await this.#connection.send({
      method: 'POST',
      url: `${this.#path}/blobs/uploads/${mount}`,
      scopes:
        source === undefined || source === this.#name ? scopes : [...scopes, `repository:${source}:pull`],
      body: { length: 0, open: () => once(new Uint8Array()) },
    })
    const upload = begun.header('location')
    begun.discard()
    if (begun.status === 201) return 'mounted'
    if (begun.status !== 202 || upload === undefined)
      throw new ProjectError(
        'RegistryFailed',
        `${this.#connection.registry}: began an upload with the status ${begun.status} and ${upload === undefined ? 'no' : 'a'} Location`,
      )
    const url = await this.#connection.resolve(upload)
    url.searchParams.set('digest', digest)
    const done = await this.#connection.send({
      method: 'PUT',
      url,
      headers: { 'content-type': 'application/octet-stream' },
      scopes,
      body: { length: size, open: () => blob.open() },
    })
    done.discard()
    if (done.status !== 201)
      throw new ProjectError(
        'RegistryFailed',
        `${this.#connection.registry}: ended an upload with the status ${done.status}, not 201`,
      )
    return 'uploaded'
  }

  #scopes(actions: string): string[] {
    return [`repository:${this.#name}:${actions}`]
  }

  #getVersion(version: string, allowed: readonly number[] = []) {
    const url = `${this.#path}/manifests/${version}`
    return this.#connection.send(
      { method: 'GET', url, headers: { accept: documentTypes }, scopes: this.#scopes('pull') },
      allowed,
    )
  }

  async #getManifest(
    version: string,
    name: string,
  ): Promise<{ readonly bytes: Uint8Array; readonly mediaType: string }> {
    return await this.#connection.retry(async () => {
      const response = await this.#getVersion(version)
      const bytes = await readBody(response, maxDocument, `${name}: the manifest`)
      const mediaType = (response.header('content-type') ?? '').split(';', 1)[0]!.trim()
      if (isDigest(version) && digestOf(bytes) !== version)
        throw new ProjectError('BadImage', `${name}: the registry sent another manifest for ${version}`)
      return { bytes, mediaType }
    })
  }

  async #getDocument(descriptor: Descriptor, name: string): Promise<Uint8Array> {
    return await this.#connection.retry(async () => {
      const chunks: Uint8Array[] = []
      for await (const chunk of this.#blob(descriptor, name).open()) chunks.push(chunk)
      return Buffer.concat(chunks)
    })
  }

  #blob(descriptor: Descriptor, name: string): Blob {
    const connection = this.#connection
    const url = `${this.#path}/blobs/${descriptor.digest}`
    const scopes = this.#scopes('pull')
    async function* download() {
      const response = await connection.send({ method: 'GET', url, scopes })
      yield* response.body
    }
    return {
      descriptor,
      open: () => verifyBytes(download(), descriptor, name),
      location: { registry: connection.registry, repository: this.#name },
    }
  }
}

async function* once(bytes: Uint8Array) {
  yield bytes
}
