import type { WireResponse } from '@coxswain/wire'
import type { RequestContext } from './request/context.ts'
import { notFoundPage, textResponse } from './response.ts'

/** Something that has to be in order. */
export interface HealthCheck {
  readonly name: string
  /** Undefined when all is well, else what is wrong. */
  readonly check: () => string | undefined
  /** Whether the server is alive without it: then only readiness asks. @default false */
  readonly readyOnly?: boolean
}

/** `/healthz`, `/livez` and `/readyz`, whole or one check at a time. */
export function serveHealth(
  context: RequestContext,
  checks: readonly HealthCheck[],
): WireResponse | undefined {
  const [endpoint, name, ...rest] = context.path.segments
  if (endpoint !== 'healthz' && endpoint !== 'livez' && endpoint !== 'readyz') return undefined
  const asked = checks.filter(({ readyOnly }) => endpoint === 'readyz' || !readyOnly)
  if (name !== undefined) {
    const found = rest.length === 0 && asked.find(check => check.name === name)
    if (!found) return notFoundPage
    const failure = found.check()
    return failure === undefined
      ? textResponse(200, 'ok')
      : textResponse(500, `internal server error: ${failure}\n`)
  }
  const excluded = new Set(context.query.getAll('exclude'))
  let failed = false
  let lines = ''
  for (const { name: checkName, check } of asked) {
    if (excluded.has(checkName)) {
      lines += `[+]${checkName} excluded: ok\n`
      continue
    }
    const failure = check()
    if (failure !== undefined) failed = true
    lines += failure === undefined ? `[+]${checkName} ok\n` : `[-]${checkName} failed: reason withheld\n`
  }
  if (failed) return textResponse(500, `${lines}${endpoint} check failed\n`)
  return textResponse(200, context.query.has('verbose') ? `${lines}${endpoint} check passed\n` : 'ok')
}
