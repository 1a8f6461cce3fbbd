import type { Store, StoreError } from '@coxswain/storage'
import type { WireResponse } from '@coxswain/wire'
import type { WatchCache } from '../cache/watch-cache.ts'
import type { RequestContext } from '../request/context.ts'
import { notFoundPage, textResponse } from '../request/response.ts'

/** A health check. */
export interface HealthCheck {
  readonly name: string
  /** Undefined when healthy, otherwise the problem. */
  readonly check: () => string | undefined
  /** Whether the check is for readiness only. @default false */
  readonly readyOnly?: boolean
}

/** The health of a control plane component. */
export type ComponentHealth =
  | { readonly healthy: true; readonly message: string }
  /** `unknown` when it could not be checked. */
  | { readonly healthy: false | 'unknown'; readonly message?: string; readonly error?: string }

/** Checks a component; never rejects. */
export type ComponentCheck = () => Promise<ComponentHealth>

/** The post-start hooks that must be done before the server is ready, by upstream's names. */
const startSteps = [
  'start-apiextensions-controllers',
  'crd-informer-synced',
  'start-service-ip-repair-controllers',
  'rbac/bootstrap-roles',
  'scheduling/bootstrap-system-priority-classes',
  'bootstrap-controller',
]

export interface HealthFacts {
  readonly store: Pick<Store, 'writeFailure'>
  readonly cache: Pick<WatchCache, 'failure' | 'isLoaded'>
  readonly isReady: () => boolean
  readonly isDraining: () => boolean
}

/** In the order in which they are listed. */
export function createHealthChecks({ store, cache, isReady, isDraining }: HealthFacts): HealthCheck[] {
  const failWhen = (failed: () => unknown, text: string) => () => (failed() ? text : undefined)
  const checkStore = (counts: (failure: StoreError) => boolean) => () => {
    if (cache.failure) return 'the store has failed'
    const failure = store.writeFailure?.()
    return failure && counts(failure) ? failure.message : undefined
  }
  return [
    { name: 'ping', check: () => undefined },
    { name: 'log', check: () => undefined },
    // A full store is alive: it serves reads, and writes as soon as there is space.
    { name: 'etcd', check: checkStore(({ code }) => code !== 'NoSpace') },
    { name: 'etcd-readiness', check: checkStore(() => true), readyOnly: true },
    { name: 'informer-sync', check: failWhen(() => !cache.isLoaded, 'not loaded'), readyOnly: true },
    ...startSteps.map(step => ({
      name: `poststarthook/${step}`,
      check: failWhen(() => !isReady(), 'not finished'),
    })),
    { name: 'shutdown', check: failWhen(isDraining, 'process is shutting down'), readyOnly: true },
  ]
}

/** Whether a path, as on the wire, is one of {@link serveHealth}'s: probes must not wait behind other requests. */
export function isHealthPath(path: string): boolean {
  return /^\/(?:healthz|livez|readyz)(?:\/|$)/.test(path)
}

/** `/healthz`, `/livez` and `/readyz`, all checks or a single one. */
export function serveHealth(
  context: RequestContext,
  checks: readonly HealthCheck[],
): WireResponse | undefined {
  const [endpoint, ...rest] = context.path.segments
  if (endpoint !== 'healthz' && endpoint !== 'livez' && endpoint !== 'readyz') return undefined
  const asked = checks.filter(({ readyOnly }) => endpoint === 'readyz' || !readyOnly)
  if (rest.length > 0) {
    const name = rest.join('/')
    const found = asked.find(check => check.name === name)
    if (!found) return notFoundPage
    const failure = found.check()
    return failure === undefined
      ? textResponse(200, 'ok')
      : textResponse(500, `internal server error: ${failure}\n`)
  }
  const excluded = new Set(context.query.getAll('exclude'))
  const unknown = new Set(excluded)
  let failed = false
  let lines = ''
  for (const { name: checkName, check } of asked) {
    if (excluded.has(checkName)) {
      unknown.delete(checkName)
      lines += `[+]${checkName} excluded: ok\n`
      continue
    }
    const failure = check()
    if (failure !== undefined) failed = true
    lines += failure === undefined ? `[+]${checkName} ok\n` : `[-]${checkName} failed: reason withheld\n`
  }
  if (unknown.size > 0) {
    const names = [...unknown].sort().map(each => JSON.stringify(each))
    lines += `warn: some health checks cannot be excluded: no matches for ${names.join(',')}\n`
  }
  if (failed) return textResponse(500, `${lines}${endpoint} check failed\n`)
  return textResponse(200, context.query.has('verbose') ? `${lines}${endpoint} check passed\n` : 'ok')
}
