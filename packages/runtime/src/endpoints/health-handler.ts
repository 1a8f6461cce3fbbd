import type { Handler } from '@coxswain/wire'
import { formatHealth } from '../health.ts'
import type { Manager } from '../manager.ts'
import { isRead, plainText } from './plain-text.ts'

/** Answers `/healthz` and `/readyz`; `/healthz/NAME` runs only that check, whatever becomes of the others. */
export function createHealthHandler(source: Pick<Manager, 'checkHealth' | 'checkReady'>): Handler {
  return async ({ method, path, query }) => {
    const [, endpoint, check] = path.split('/')
    if (endpoint !== 'healthz' && endpoint !== 'readyz') return plainText(404, 'not found')
    if (!isRead(method)) return plainText(405, 'method not allowed')
    const only = check || undefined
    const report = await (endpoint === 'healthz' ? source.checkHealth(only) : source.checkReady(only))
    if (only && report.checks.length === 0) return plainText(404, 'not found')
    const isVerbose = new URLSearchParams(query).has('verbose')
    return plainText(report.ok ? 200 : 500, formatHealth(endpoint, report, isVerbose))
  }
}
