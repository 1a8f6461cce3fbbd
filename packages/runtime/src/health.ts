import type { HealthCheck } from './operator.ts'

/** The result of health checks. */
export interface HealthReport {
  readonly ok: boolean
  readonly checks: readonly { readonly name: string; readonly ok: boolean; readonly error?: unknown }[]
}

/** Runs every check, even if another fails; or only the one of this name, if there is one. */
export async function runChecks(
  checks: ReadonlyMap<string, HealthCheck>,
  only?: string,
): Promise<HealthReport> {
  const results: { name: string; ok: boolean; error?: unknown }[] = []
  for (const [name, check] of checks) {
    if (only !== undefined && name !== only) continue
    try {
      await check()
      results.push({ name, ok: true })
    } catch (error) {
      results.push({ name, ok: false, error })
    }
  }
  return { ok: results.every(({ ok }) => ok), checks: results }
}

/** In the format of kube-apiserver and controller-runtime: `ok` alone, or every check when one fails or `verbose`. */
export function formatHealth(endpoint: string, { ok, checks }: HealthReport, verbose = false): string {
  if (ok && !verbose) return 'ok'
  const lines = checks.map(
    check => `[${check.ok ? '+' : '-'}]${check.name} ${check.ok ? 'ok' : 'failed: reason withheld'}`,
  )
  return `${lines.join('\n')}\n${endpoint} check ${ok ? 'passed' : 'failed'}\n`
}
