import type { Handler } from '@coxswain/wire'
import { formatHealth, type HealthReport } from '../health.ts'
import type { Manager } from '../manager.ts'
import { isRead, plainText } from './plain-text.ts'

/** Answers `/healthz` and `/readyz`, and `/healthz/NAME` for one check. */
export function createHealthHandler(source: Pick<Manager, 'checkHealth' | 'checkReady'>): Handler {
  return async ({ method, path, query }) => {
    const [, endpoint, check] = path.split('/')
    if (endpoint !== 'healthz' && endpoint !== 'readyz') return plainText(404, 'not found')
    if (!isRead(method)) return plainText(405, 'method not allowed')
    const report = await (endpoint === 'healthz' ? source.checkHealth() : source.checkReady())
    const shown = check ? only(report, check) : report
    if (!shown) return plainText(404, 'not found')
    const isVerbose = new URLSearchParams(query).has('verbose')
    return plainText(shown.ok ? 200 : 500, formatHealth(endpoint, shown, isVerbose))
  }
}

function only(report: HealthReport, name: string): HealthReport | undefined {
  const check = report.checks.find(candidate => candidate.name === name)
  return check && { ok: check.ok, checks: [check] }
}
