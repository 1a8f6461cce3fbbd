/** The flags of the rate limit of requests to the API server. */
export interface RateLimitFlags {
  readonly kubeApiQps?: number
  readonly kubeApiBurst?: number
}

/** Options of a client with this limit; none without `--kube-api-qps`. */
export function rateLimitOf({ kubeApiQps: qps, kubeApiBurst: burst }: RateLimitFlags): {
  readonly rateLimit?: { readonly qps: number; readonly burst: number }
} {
  return qps === undefined ? {} : { rateLimit: { qps, burst: burst ?? Math.max(1, 2 * qps) } }
}
