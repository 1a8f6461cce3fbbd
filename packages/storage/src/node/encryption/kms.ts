import { Buffer } from 'node:buffer'
import { createHash, randomBytes } from 'node:crypto'
import { BoundedMap, type Env } from '@coxswain/kit'
import { Client, credentials } from '@grpc/grpc-js'
import { ProtoWriter, readFields } from '../etcd/protobuf.ts'
import { createAesGcm, createSeededAesGcm, type Transformer } from './transformer.ts'

export interface KmsOptions {
  readonly name: string
  /** `unix:///path/to.sock` */
  readonly endpoint: string
  /** Milliseconds. @default 3000 */
  readonly timeout?: number
  readonly env: Env
}

/** The plug-in's encryption of a seed. */
interface Sealed {
  readonly ciphertext: Uint8Array
  readonly keyId: string
  readonly annotations: readonly Annotation[]
}

type Annotation = readonly [name: string, value: Uint8Array]

/** How often the plug-in's current key is checked. */
const statusPeriod = 60_000
/** The longest use of a seed for writing after the plug-in was last healthy. */
const longestUse = 3 * 60_000
const rememberedSeeds = 500
const seedType = 1

/**
 * KMS v2: values are encrypted here with keys derived from a seed, and the seed by a plug-in in another process, which is called only
 * when its key changes or a value with an unknown seed is read.
 */
export class Kms implements Transformer, AsyncDisposable {
  readonly #options: KmsOptions
  readonly #client: Client
  readonly #known = new BoundedMap<string, Transformer>(rememberedSeeds)
  #current: { readonly sealed: Sealed; readonly transformer: Transformer } | undefined
  #checkedAt = Number.NEGATIVE_INFINITY
  #refreshing: Promise<void> | undefined

  constructor(options: KmsOptions) {
    this.#options = options
    this.#client = new Client(
      options.endpoint.replace(/^unix:\/\/\//, 'unix:/'),
      credentials.createInsecure(),
    )
  }

  async encrypt(value: Uint8Array, key: string): Promise<Uint8Array> {
    const { sealed, transformer } = await this.#present()
    const writer = new ProtoWriter()
      .bytes(1, await transformer.encrypt(value, key))
      .text(2, sealed.keyId)
      .bytes(3, sealed.ciphertext)
    for (const annotation of sealed.annotations) writer.message(4, encodeAnnotation(annotation))
    return writer.number(5, seedType).finish()
  }

  async decrypt(stored: Uint8Array, key: string): Promise<Uint8Array> {
    const { data, isSeed, sealed } = decodeObject(stored)
    const id = idOf(sealed, isSeed)
    let transformer = this.#known.get(id)
    if (!transformer) {
      const request = new ProtoWriter()
        .bytes(1, sealed.ciphertext)
        .text(2, this.#options.env.random.uuid())
        .text(3, sealed.keyId)
      for (const annotation of sealed.annotations) request.message(4, encodeAnnotation(annotation))
      const answer = await this.#call('Decrypt', request.finish())
      const seed = fieldOf(answer, 1)
      transformer = isSeed ? createSeededAesGcm(seed) : createAesGcm(seed)
      this.#known.set(id, transformer)
    }
    return await transformer.decrypt(data, key)
  }

  isStale(stored: Uint8Array): boolean {
    const { sealed, isSeed } = decodeObject(stored)
    return this.#current !== undefined && (!isSeed || sealed.keyId !== this.#current.sealed.keyId)
  }

  /** Rejects with what is wrong with the plug-in. */
  async check(): Promise<void> {
    await this.#refresh()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#client.close()
  }

  async #present() {
    const age = this.#options.env.clock.monotonic() - this.#checkedAt
    if (!this.#current || age > statusPeriod) {
      try {
        await this.#refresh()
      } catch (error) {
        if (!this.#current || age > longestUse) throw error
        this.#options.env.log.warn('the KMS plug-in does not answer', { provider: this.#options.name, error })
      }
    }
    return this.#current!
  }

  #refresh(): Promise<void> {
    this.#refreshing ??= this.#fetchKey().finally(() => {
      this.#refreshing = undefined
    })
    return this.#refreshing
  }

  async #fetchKey(): Promise<void> {
    const { name, env } = this.#options
    const status = await this.#call('Status', new Uint8Array())
    const version = textOf(status, 1)
    const health = textOf(status, 2)
    const keyId = textOf(status, 3)
    if (version !== 'v2' && version !== 'v2beta1')
      throw new Error(`the KMS plug-in ${name} supports ${JSON.stringify(version)}, not v2`)
    if (health !== 'ok') throw new Error(`the KMS plug-in ${name} is not healthy: ${health}`)
    this.#checkedAt = env.clock.monotonic()
    if (this.#current?.sealed.keyId === keyId) return
    const seed = randomBytes(32)
    const request = new ProtoWriter().bytes(1, seed).text(2, env.random.uuid()).finish()
    const answer = await this.#call('Encrypt', request)
    const sealed = {
      ciphertext: fieldOf(answer, 1),
      keyId: textOf(answer, 2),
      annotations: annotationsOf(answer, 3),
    }
    if (sealed.ciphertext.length === 0 || sealed.ciphertext.length > 1024)
      throw new Error(`the KMS plug-in ${name} returned a ciphertext of ${sealed.ciphertext.length} bytes`)
    if (sealed.keyId === '') throw new Error(`the KMS plug-in ${name} returned no key id`)
    const transformer = createSeededAesGcm(seed)
    this.#known.set(idOf(sealed, true), transformer)
    this.#current = { sealed, transformer }
  }

  #call(method: string, request: Uint8Array): Promise<Uint8Array> {
    const { timeout = 3_000, name, env } = this.#options
    const same = (bytes: Uint8Array) => Buffer.from(bytes)
    return new Promise((resolve, reject) => {
      const call = this.#client.makeUnaryRequest<Uint8Array, Uint8Array>(
        `/v2.KeyManagementService/${method}`,
        same,
        same,
        request,
        (error, answer) => {
          timer.cancel()
          if (error) reject(new Error(`the KMS plug-in ${name} failed to ${method}: ${error.details}`))
          else resolve(answer ?? new Uint8Array())
        },
      )
      const timer = env.clock.after(timeout, () => call.cancel())
    })
  }
}

function idOf({ ciphertext, keyId, annotations }: Sealed, isSeed: boolean): string {
  const hash = createHash('sha256').update(ciphertext).update(`\0${keyId}\0${isSeed}`)
  for (const [name, value] of [...annotations].sort(([a], [b]) => (a < b ? -1 : 1)))
    hash.update(`\0${name}\0`).update(value)
  return hash.digest('base64')
}

function decodeObject(stored: Uint8Array): { data: Uint8Array; isSeed: boolean; sealed: Sealed } {
  let isSeed = false
  for (const { field, number } of readFields(stored)) if (field === 5) isSeed = number === seedType
  return {
    data: fieldOf(stored, 1),
    isSeed,
    sealed: {
      keyId: textOf(stored, 2),
      ciphertext: fieldOf(stored, 3),
      annotations: annotationsOf(stored, 4),
    },
  }
}

function fieldOf(message: Uint8Array, wanted: number): Uint8Array {
  for (const { field, bytes } of readFields(message)) if (field === wanted) return bytes
  return new Uint8Array()
}

const textOf = (message: Uint8Array, field: number): string => Buffer.from(fieldOf(message, field)).toString()

function annotationsOf(message: Uint8Array, wanted: number): Annotation[] {
  const found: Annotation[] = []
  for (const { field, bytes } of readFields(message))
    if (field === wanted) found.push([textOf(bytes, 1), fieldOf(bytes, 2)])
  return found
}

function encodeAnnotation([name, value]: Annotation): Uint8Array {
  return new ProtoWriter().text(1, name).bytes(2, value).finish()
}
