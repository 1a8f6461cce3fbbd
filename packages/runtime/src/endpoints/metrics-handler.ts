import type { Handler } from '@coxswain/wire'
import type { Manager } from '../manager.ts'
import { isRead, plainText } from './plain-text.ts'

const contentType = 'text/plain; version=0.0.4; charset=utf-8'

/** Answers `/metrics`, and the paths of operators' own handlers. */
export function createMetricsHandler({
  metrics,
  metricsHandlers,
}: Pick<Manager, 'metrics' | 'metricsHandlers'>): Handler {
  return async request => {
    const { method, path } = request
    const own = metricsHandlers.get(path)
    if (own) return await own(request)
    if (path !== '/metrics') return plainText(404, 'not found')
    if (!isRead(method)) return plainText(405, 'method not allowed')
    return plainText(200, metrics.text(), contentType)
  }
}
