import type { HealthCheck } from './operator.ts'

export interface HealthReport {
  readonly ok: boolean
  readonly checks: readonly { readonly name: string; readonly ok: boolean; readonly error?: unknown }[]
}

/** Runs every check; none can hide another. */
export async function runChecks(checks: ReadonlyMap<string, HealthCheck>): Promise<HealthReport> {
  const results: { name: string; ok: boolean; error?: unknown }[] = []
  for (const [name, check] of checks) {
    try {
      await check()
      results.push({ name, ok: true })
    } catch (error) {
      results.push({ name, ok: false, error })
    }
  }
  return { ok: results.every(({ ok }) => ok), checks: results }
}

/** As kube-apiserver and controller-runtime word it: `ok` alone, or every check when one fails or `verbose`. */
export function formatHealth(endpoint: string, { ok, checks }: HealthReport, verbose = false): string {
  if (ok && !verbose) return 'ok'
  const lines = checks.map(
    check => `[${check.ok ? '+' : '-'}]${check.name} ${check.ok ? 'ok' : 'failed: reason withheld'}`,
  )
  return `${lines.join('\n')}\n${endpoint} check ${ok ? 'passed' : 'failed'}\n`
}
