import type { RequestInfo } from './request-info.ts'

const longSubresources = new Set(['attach', 'exec', 'log', 'portforward', 'proxy'])

/** Requests that last as long as their client likes: limits on time and number are not for them. */
export function isLongRunning(info: RequestInfo): boolean {
  return info.isResource && (info.verb === 'watch' || longSubresources.has(info.subresource))
}
