import type { RequestInfo } from './request-info.ts'

const longSubresources = new Set(['attach', 'exec', 'log', 'portforward', 'proxy'])

/** Requests that last as long as their client wants: timeouts and in-flight limits do not apply to them. */
export function isLongRunning(info: RequestInfo): boolean {
  return info.isResource && (info.verb === 'watch' || longSubresources.has(info.subresource))
}
