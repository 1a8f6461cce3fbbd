import { deepEqual } from '@coxswain/apimachinery/json'
import { isAlreadyExists, isConflict } from '@coxswain/apimachinery/status'
import { formatMicroTime } from '@coxswain/apimachinery/time'
import type { Client } from '@coxswain/client'
import { type Env, isReported } from '@coxswain/kit'
import { RuntimeError } from './errors.ts'
import { type Lease, type LeaseSpec, leaseKind } from './internal/kinds.ts'
import type { WriteGuard } from './operator-client.ts'

/** How replicas elect a leader. */
export interface LeaderElectionOptions {
  /** The name of the Lease. @default the operator's name */
  readonly name?: string
  readonly namespace: string
  /** Labels of the Lease, beside those that it has. @default none */
  readonly labels?: Readonly<Record<string, string>>
  /** Identifies the replica. @default the host's name, or where that is not known the operator's, and a uuid */
  readonly identity?: string
  /** How long others wait after the last renewal they saw before they take over, in milliseconds. @default 15000 */
  readonly leaseDuration?: number
  /** How long the leader tries to renew before it gives up. @default 10000 */
  readonly renewDeadline?: number
  /** How long to wait between tries. @default 2000 */
  readonly retryPeriod?: number
  /** Gives the lease up when it stops, so that another replica leads at once. @default true */
  readonly releaseOnCancel?: boolean
  /** The client for the Lease, where a rate limit must not delay it. @default the operator's client */
  readonly client?: Client
}

type Resolved = Required<Omit<LeaderElectionOptions, 'client'>>

const defaults = {
  leaseDuration: 15_000,
  renewDeadline: 10_000,
  retryPeriod: 2_000,
  releaseOnCancel: true,
  labels: {},
}
/** The jitter of candidates' retries. */
const jitter = 1.2
/** The jitter of candidates that wait for a lease to expire. */
const expirySpread = 200
/** A renewal in flight may change the lease before it is released. */
const releaseTries = 3

/** Options of {@link LeaderElector}. */
export interface LeaderElectorOptions extends LeaderElectionOptions {
  readonly client: Client
  readonly env: Env
  readonly operator: string
  /** The first part of the default identity. @default the operator's name */
  readonly hostname?: string | undefined
  readonly onChange?: (leading: boolean) => void
}

/** What the leader is given. */
export interface Leadership {
  /** Aborts when it is time to stop: on request, or at once when leadership is lost. */
  readonly stop: AbortSignal
  /** Aborts when leadership is lost: another replica may lead by now. */
  readonly lost: AbortSignal
}

/**
 * Elects one leader among replicas by a Lease. The leader renews it; candidates take it when it was not renewed for its
 * duration, measured by their own clock from when they observed the last renewal.
 *
 * The leader counts from when it *sent* its last successful renewal: no write is admitted later than `renewDeadline`
 * after that, and admitted writes are aborted before another replica can hold the lease.
 */
export class LeaderElector implements WriteGuard {
  readonly #client: Client
  readonly #env: Env
  readonly #options: Resolved
  readonly #onChange: ((leading: boolean) => void) | undefined
  /** The Lease as last read or written. */
  #lease: Lease | undefined
  /** When the current `#lease.spec` was first observed. */
  #observedAt = 0
  /** When the last successful renewal was sent; undefined while not leading. */
  #renewedAt: number | undefined

  constructor(options: LeaderElectorOptions) {
    const { client, env, operator, hostname = operator, onChange, ...given } = options
    this.#client = client
    this.#env = env
    this.#onChange = onChange
    this.#options = {
      ...defaults,
      name: operator,
      identity: `${hostname}_${env.random.uuid()}`,
      ...given,
    }
    const { leaseDuration, renewDeadline, retryPeriod } = this.#options
    if (leaseDuration <= renewDeadline || renewDeadline <= retryPeriod * jitter) {
      throw new RuntimeError(
        'BadDefinition',
        'leaseDuration must be greater than renewDeadline, and renewDeadline greater than 1.2 x retryPeriod',
      )
    }
  }

  get identity(): string {
    return this.#options.identity
  }

  get isLeader(): boolean {
    return this.#renewedAt !== undefined
  }

  admit(): number {
    const { renewDeadline, leaseDuration } = this.#options
    const age = this.#env.clock.monotonic() - (this.#renewedAt ?? Number.NEGATIVE_INFINITY)
    if (age >= renewDeadline) throw new RuntimeError('NotLeader', 'this replica is not the leader')
    return leaseDuration - age
  }

  /**
   * Waits to lead, then calls `lead` once. Resolves when that has ended and the lease is released. Resolves without
   * calling it when `signal` aborts first.
   * @throws RuntimeError `LeadershipLost` after `lead` has ended, and whatever `lead` throws
   */
  async run(signal: AbortSignal, lead: (leadership: Leadership) => Promise<void>): Promise<void> {
    const { clock, log } = this.#env
    const { name, identity } = this.#options
    while (!(await this.#tryAcquire(signal))) {
      await clock.sleep(this.#waitingTime(), { signal }).catch(() => {})
      if (signal.aborted) return
    }
    log.info('leading', { lease: name, identity })
    this.#onChange?.(true)
    const lost = new AbortController()
    const over = new AbortController()
    const leading = lead({ stop: AbortSignal.any([signal, lost.signal]), lost: lost.signal }).finally(() =>
      over.abort(),
    )
    leading.catch(() => {})
    const error = await this.#renewUntil(over.signal)
    if (error) {
      this.#renewedAt = undefined
      lost.abort(error)
    }
    try {
      await leading
    } finally {
      this.#onChange?.(false)
      if (!error && this.#options.releaseOnCancel) await this.#release()
      this.#renewedAt = undefined
    }
    if (error) throw error
  }

  /** Waits until the next retry, or until the lease of another holder may expire, if that is sooner. */
  #waitingTime(): number {
    const { clock, random } = this.#env
    const tries = this.#options.retryPeriod * (1 + jitter * random.next())
    if (!this.#isHeldByOther()) return tries
    const expiry =
      this.#observedAt + (this.#lease?.spec?.leaseDurationSeconds ?? 0) * 1000 - clock.monotonic()
    return expiry > 0 ? Math.min(tries, expiry + expirySpread * random.next()) : tries
  }

  /** Renews until `over` aborts; an error when leadership is lost before. */
  async #renewUntil(over: AbortSignal): Promise<RuntimeError | undefined> {
    const { clock, log } = this.#env
    const { retryPeriod, renewDeadline, name } = this.#options
    while (!over.aborted) {
      const left = (this.#renewedAt ?? 0) + renewDeadline - clock.monotonic()
      if (left <= 0) break
      await clock.sleep(Math.min(retryPeriod, left), { signal: over }).catch(() => {})
      if (over.aborted) return undefined
      const deadline = (this.#renewedAt ?? 0) + renewDeadline - clock.monotonic()
      if (deadline <= 0) break
      const held = await this.#tryAcquire(over, deadline)
      if (!held && this.#isHeldByOther()) break
    }
    if (over.aborted) return undefined
    log.error('leadership lost', { lease: name, holder: this.#lease?.spec?.holderIdentity })
    return new RuntimeError('LeadershipLost', `the lease ${name} was not renewed in time`)
  }

  #isHeldByOther(): boolean {
    const holder = this.#lease?.spec?.holderIdentity
    return Boolean(holder) && holder !== this.#options.identity
  }

  /** True when the lease is ours and was renewed just now. Never rejects. */
  async #tryAcquire(signal: AbortSignal, within = Number.POSITIVE_INFINITY): Promise<boolean> {
    const { clock, log } = this.#env
    const { renewDeadline } = this.#options
    const sent = clock.monotonic()
    const timeout = Math.min(Math.max(1_000, renewDeadline / 2), within)
    try {
      if (!(await this.#acquire({ signal, timeout }))) return false
      this.#renewedAt = sent
      return true
    } catch (error) {
      if (signal.aborted) return false
      if (isConflict(error) || isAlreadyExists(error)) this.#lease = undefined
      else if (!isReported(error)) log.warn('the lease could not be read or written', { error })
      return false
    }
  }

  async #acquire(call: { readonly signal: AbortSignal; readonly timeout: number }): Promise<boolean> {
    const { clock } = this.#env
    const { namespace, name, identity, labels, leaseDuration } = this.#options
    // The leader knows the lease: it writes at once, and reads only after a conflict.
    if (!this.isLeader || !this.#lease) {
      const found = await this.#client.get(leaseKind, { namespace, name }, call)
      if (!deepEqual(found?.spec, this.#lease?.spec)) this.#observedAt = clock.monotonic()
      this.#lease = found
    }
    const now = formatMicroTime(clock.now())
    const current = this.#lease
    const spec: LeaseSpec = {
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(leaseDuration / 1000),
      acquireTime: now,
      renewTime: now,
      leaseTransitions: 0,
    }
    const labelled = (before: Readonly<Record<string, string>> = {}) =>
      Object.keys(labels).length === 0 ? {} : { labels: { ...before, ...labels } }
    if (!current) {
      const metadata = { namespace, name, ...labelled() }
      this.#observe(await this.#client.create(leaseKind, { metadata, spec }, call))
      return true
    }
    const { holderIdentity, acquireTime, leaseTransitions = 0, leaseDurationSeconds = 0 } = current.spec ?? {}
    if (holderIdentity && holderIdentity !== identity) {
      if (clock.monotonic() < this.#observedAt + leaseDurationSeconds * 1000) return false
    }
    const ours = holderIdentity === identity
    const next: LeaseSpec = {
      ...spec,
      acquireTime: ours ? (acquireTime ?? now) : now,
      leaseTransitions: ours ? leaseTransitions : leaseTransitions + 1,
    }
    const metadata = { ...current.metadata, ...labelled(current.metadata.labels) }
    this.#observe(await this.#client.update(leaseKind, { ...current, metadata, spec: next }, call))
    return true
  }

  #observe(lease: Lease): void {
    this.#lease = lease
    this.#observedAt = this.#env.clock.monotonic()
  }

  /** Releases the lease, so that another replica leads at once. Never rejects. */
  async #release(): Promise<void> {
    const { log } = this.#env
    const { name } = this.#options
    if (!this.isLeader) return
    this.#renewedAt = undefined
    for (let tries = 1; ; tries++) {
      try {
        await this.#clear()
        log.info('lease released', { lease: name })
        return
      } catch (error) {
        if (isConflict(error) && tries < releaseTries) continue
        log.warn('the lease could not be released', { lease: name, error })
        return
      }
    }
  }

  async #clear(): Promise<void> {
    const { namespace, name, identity } = this.#options
    const call = { timeout: 5_000 }
    const lease = await this.#client.get(leaseKind, { namespace, name }, call)
    if (lease?.spec?.holderIdentity !== identity) return
    const now = formatMicroTime(this.#env.clock.now())
    const spec: LeaseSpec = {
      ...lease.spec,
      holderIdentity: '',
      leaseDurationSeconds: 1,
      acquireTime: now,
      renewTime: now,
    }
    await this.#client.update(leaseKind, { ...lease, spec }, call)
  }
}
