import { Buffer } from 'node:buffer'
import { isIP } from 'node:net'
import { checkServerIdentity } from 'node:tls'
import { type Clock, createBackoff, type Env, type Timer } from '@coxswain/kit'
import {
  type ChannelOptions,
  Client,
  type ClientDuplexStream,
  credentials,
  Metadata,
  type ServiceError,
  status,
} from '@grpc/grpc-js'
import { createClosed, isStoreError, StoreError } from '../../errors.ts'
import { decodeStatusVersion, encodeRange } from './etcd-messages.ts'

/** TLS settings of connections to etcd. */
export interface EtcdTls {
  /** PEM. @default the system's CAs */
  readonly ca?: Uint8Array | undefined
  /** PEM, with `key`: the client certificate. */
  readonly cert?: Uint8Array | undefined
  readonly key?: Uint8Array | undefined
}

export interface ClusterOptions {
  readonly env: Env
  readonly endpoints: readonly string[]
  readonly tls: EtcdTls
  /** The deadline of a call, retries on other members included, in milliseconds. */
  readonly requestTimeout: number
}

export interface Call {
  /** `KV/Range` */
  readonly method: string
  readonly request: Uint8Array
  /** Whether it may be retried when its outcome is unknown. */
  readonly repeatable: boolean
}

export type WatchStream = ClientDuplexStream<Uint8Array, Uint8Array>

interface Member {
  readonly endpoint: string
  readonly client: Client
  /** Checked once per connection; undefined until it is known. */
  version: string | undefined
}

const channelOptions: ChannelOptions = {
  'grpc.max_receive_message_length': -1,
  'grpc.max_send_message_length': -1,
  // Detects a lost member within seconds.
  'grpc.keepalive_time_ms': 10_000,
  'grpc.keepalive_timeout_ms': 5_000,
  'grpc.keepalive_permit_without_calls': 1,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 2_000,
}

/** How often an unavailable cluster is checked, and with which timeout; upstream's health check too. */
const probePeriod = 1_000
const probeTimeout = 2_000
/** Failures of the cluster, not of the caller. */
const failureCodes: ReadonlySet<string> = new Set(['Unavailable', 'UnknownOutcome', 'NoSpace'])

const identity = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
const asIs = (bytes: Buffer): Uint8Array => bytes

/** The members of an etcd cluster: calls go to one until it fails, then to the next. */
export class Cluster {
  readonly #options: ClusterOptions
  readonly #members: readonly Member[]
  #current = 0
  #closed = false
  #failure: StoreError | undefined
  #probe: Timer | undefined

  constructor(options: ClusterOptions) {
    this.#options = options
    this.#members = options.endpoints.map(endpoint => createMember(endpoint, options.tls))
    if (this.#members.length === 0) throw new StoreError('InvalidArgument', 'no etcd endpoint is given')
  }

  get clock(): Clock {
    return this.#options.env.clock
  }

  /** Why calls currently fail; undefined once one succeeds again. */
  get failure(): StoreError | undefined {
    return this.#failure
  }

  /**
   * Calls the cluster. A call that certainly did nothing is retried on the next member; one whose outcome is unknown
   * only when it is repeatable, otherwise it ends with `UnknownOutcome`.
   */
  async call(call: Call): Promise<Uint8Array> {
    try {
      const reply = await this.#call(call)
      // A successful read does not prove that there is space for writes.
      if (this.#failure?.code !== 'NoSpace' || call.method === 'KV/Txn') this.#failure = undefined
      return reply
    } catch (error) {
      if (isStoreError(error) && failureCodes.has(error.code)) this.#fail(error)
      throw error
    }
  }

  async #call(call: Call, timeout = this.#options.requestTimeout): Promise<Uint8Array> {
    const { clock, random } = this.#options.env
    const deadline = clock.monotonic() + timeout
    const backoff = createBackoff({ clock, random, initial: 20, cap: 1000, jitter: 0.5 })
    /** The last failure that says more than a timeout. */
    let cause: ServiceError | undefined
    for (let tries = 1; ; tries++) {
      if (this.#closed) throw createClosed()
      const member = this.#member()
      try {
        return await this.#send(member, call, Math.max(1, deadline - clock.monotonic()))
      } catch (error) {
        if (this.#closed) throw createClosed()
        const failure = error as ServiceError
        const outcome = outcomeOf(failure)
        if (outcome === 'refused') throw toStoreError(failure)
        if (failure.code !== status.DEADLINE_EXCEEDED) cause = failure
        this.leave(member.endpoint)
        if (outcome === 'unknown' && !call.repeatable) {
          throw new StoreError(
            'UnknownOutcome',
            `etcd did not say what became of the write: ${failure.details}`,
            {
              cause: failure,
            },
          )
        }
        if (clock.monotonic() >= deadline) {
          throw new StoreError('Unavailable', `no etcd member answered: ${reasonOf(cause ?? failure)}`, {
            cause: cause ?? failure,
          })
        }
        if (tries >= this.#members.length)
          await clock.sleep(Math.min(backoff.next(), deadline - clock.monotonic()))
      }
    }
  }

  /** A watch has lost its member: an immediate call shows whether another one answers. */
  check(): void {
    this.#probeAfter(0)
  }

  #fail(error: StoreError): void {
    if (this.#closed) return
    this.#failure = error
    this.#probeAfter(probePeriod)
  }

  #probeAfter(ms: number): void {
    if (this.#closed) return
    this.#probe ??= this.#options.env.clock.after(ms, () => {
      this.#probe = undefined
      const request = encodeRange({ key: new Uint8Array(1), countOnly: true })
      this.#call({ method: 'KV/Range', request, repeatable: true }, probeTimeout).then(
        () => {
          if (this.#failure?.code !== 'NoSpace') this.#failure = undefined
        },
        error => this.#fail(error),
      )
    })
  }

  /** A stream for one watch on the current member, which ends it when it loses its leader. */
  watch(): { readonly stream: WatchStream; readonly endpoint: string } {
    const { client, endpoint } = this.#member()
    const metadata = new Metadata()
    metadata.set('hasleader', 'true')
    const stream = client.makeBidiStreamRequest('/etcdserverpb.Watch/Watch', identity, asIs, metadata)
    return { stream, endpoint }
  }

  /** The next call goes to another member than `endpoint`. */
  leave(endpoint: string): void {
    if (this.#member().endpoint === endpoint) this.#current = (this.#current + 1) % this.#members.length
  }

  /** Whether progress notifications of every reachable member can be trusted. */
  async hasTrustedProgress(): Promise<boolean> {
    const versions = await Promise.all(this.#members.map(member => this.#version(member)))
    const known = versions.filter(version => version !== undefined)
    return known.length > 0 && known.every(isProgressTrusted)
  }

  close(): void {
    this.#closed = true
    this.#probe?.cancel()
    for (const { client } of this.#members) client.close()
  }

  #member(): Member {
    return this.#members[this.#current]!
  }

  async #version(member: Member): Promise<string | undefined> {
    if (member.version !== undefined) return member.version
    try {
      const call = { method: 'Maintenance/Status', request: new Uint8Array(0), repeatable: true }
      member.version = decodeStatusVersion(await this.#send(member, call, 2000))
    } catch {
      // A member that is down is checked again next time.
    }
    return member.version
  }

  #send(member: Member, call: Call, timeout: number): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      const deadline = Date.now() + timeout
      const path = `/etcdserverpb.${call.method}`
      member.client.makeUnaryRequest(
        path,
        identity,
        asIs,
        call.request,
        new Metadata(),
        { deadline },
        (error, reply) => (error ? reject(error) : resolve(reply!)),
      )
    })
  }
}

function createMember(endpoint: string, tls: EtcdTls): Member {
  const url = URL.parse(endpoint.includes('://') ? endpoint : `http://${endpoint}`)
  if (!url) throw new StoreError('InvalidArgument', `the etcd endpoint ${endpoint} is not a URL`)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new StoreError(
      'InvalidArgument',
      `an etcd endpoint begins with http:// or https://, not ${url.protocol}`,
    )
  }
  const address = `${url.hostname}:${url.port || '2379'}`
  if (url.protocol === 'http:') {
    return {
      endpoint,
      client: new Client(address, credentials.createInsecure(), channelOptions),
      version: undefined,
    }
  }
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const buffer = (bytes: Uint8Array | undefined) => (bytes ? Buffer.from(bytes) : null)
  const channelCredentials = credentials.createSsl(buffer(tls.ca), buffer(tls.key), buffer(tls.cert), {
    checkServerIdentity: (_, certificate) => checkServerIdentity(host, certificate),
  })
  // TLS has no server name for an address; the certificate is checked against the address anyway.
  const options = isIP(host) ? { ...channelOptions, 'grpc.ssl_target_name_override': 'etcd' } : channelOptions
  return { endpoint, client: new Client(address, channelCredentials, options), version: undefined }
}

/** The socket's error message, without gRPC's around it. */
function reasonOf({ details = '' }: ServiceError): string {
  return /Last error: (?:Error: )?(.+?)\.? Resolution note:/.exec(details)?.[1] ?? details
}

/** What a failed call has done: certainly nothing and may be retried elsewhere, nothing and never will, or unknown. */
function outcomeOf(error: ServiceError): 'unsent' | 'refused' | 'unknown' {
  const { code, details = '' } = error
  switch (code) {
    case status.UNAVAILABLE:
      return /no connection established|name resolution failed|failed to connect/i.test(details)
        ? 'unsent'
        : 'unknown'
    case status.RESOURCE_EXHAUSTED:
      return /too many requests/.test(details) ? 'unsent' : 'refused'
    case status.DEADLINE_EXCEEDED:
    case status.CANCELLED:
    case status.UNKNOWN:
    case status.INTERNAL:
    case status.ABORTED:
    case undefined:
      return 'unknown'
    default:
      return 'refused'
  }
}

export function toStoreError(error: ServiceError): StoreError {
  const { details = '' } = error
  const options = { cause: error }
  if (/required revision has been compacted/.test(details))
    return new StoreError('Compacted', details, options)
  if (/required revision is a future revision/.test(details))
    return new StoreError('FutureRevision', details, options)
  if (/too large|larger than max/.test(details)) return new StoreError('TooLarge', details, options)
  if (/space exceeded/.test(details)) return new StoreError('NoSpace', details, options)
  if (error.code === status.INVALID_ARGUMENT) return new StoreError('InvalidArgument', details, options)
  return new StoreError('Unavailable', details || error.message, options)
}

/** Before these releases a progress notification could overtake events. */
export function isProgressTrusted(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split(/[.-]/).map(Number)
  if (major !== 3) return major > 3
  if (minor === 4) return patch >= 31
  if (minor === 5) return patch >= 13
  return minor > 5
}
