/**
 * The flags of kube-apiserver 1.36 that `coxswain up` does not have. Those that it has are passed on to it.
 * @module
 */

/** A flag that `coxswain up` does not have. */
export interface ForeignFlag {
  /** Booleans take no value from the next argument. @default false */
  readonly isBoolean?: true
  /** The only values, or parts of a list, that this server has: others would change its answers. @default any value, without effect */
  readonly values?: readonly string[]
}

const ignored: ForeignFlag = {}
const ignoredBoolean: ForeignFlag = { isBoolean: true }
const only = (...values: string[]): ForeignFlag => ({ values })
const onlyTrue: ForeignFlag = { isBoolean: true, values: ['true'] }
const onlyFalse: ForeignFlag = { isBoolean: true, values: ['false'] }

const batch = (prefix: string): Record<string, ForeignFlag> => ({
  [`${prefix}-batch-buffer-size`]: ignored,
  [`${prefix}-batch-max-size`]: ignored,
  [`${prefix}-batch-max-wait`]: ignored,
  [`${prefix}-batch-throttle-burst`]: ignored,
  [`${prefix}-batch-throttle-enable`]: ignoredBoolean,
  [`${prefix}-batch-throttle-qps`]: ignored,
  [`${prefix}-mode`]: ignored,
  [`${prefix}-truncate-enabled`]: ignoredBoolean,
  [`${prefix}-truncate-max-batch-size`]: ignored,
  [`${prefix}-truncate-max-event-size`]: ignored,
  [`${prefix}-version`]: only('audit.k8s.io/v1'),
})

/** By name. Flags with `values` are an error with any other value; the rest are named in one warning. */
export const foreignFlags: Readonly<Record<string, ForeignFlag>> = {
  ...batch('audit-log'),
  ...batch('audit-webhook'),
  'admission-control': only(),
  'aggregator-reject-forwarding-redirects': ignoredBoolean,
  'allow-metric-labels': ignored,
  'allow-metric-labels-manifest': ignored,
  'allow-privileged': onlyTrue,
  'audit-log-compress': ignoredBoolean,
  'audit-webhook-initial-backoff': ignored,
  'contention-profiling': ignoredBoolean,
  'coordinated-leadership-lease-duration': ignored,
  'coordinated-leadership-renew-deadline': ignored,
  'coordinated-leadership-retry-period': ignored,
  'cors-allowed-origins': only(''),
  'debug-socket-path': ignored,
  'default-not-ready-toleration-seconds': only('300'),
  'default-unreachable-toleration-seconds': only('300'),
  'default-watch-cache-size': ignored,
  'delete-collection-workers': ignored,
  'disable-http2-serving': ignoredBoolean,
  'disabled-metrics': ignored,
  'egress-selector-config-file': only(''),
  'emulated-version': only('1.36', 'kube=1.36'),
  'emulation-forward-compatible': onlyFalse,
  'enable-aggregator-routing': ignoredBoolean,
  'enable-garbage-collector': onlyTrue,
  'enable-logs-handler': ignoredBoolean,
  'endpoint-reconciler-type': only('lease', 'master-count'),
  'etcd-compaction-interval': ignored,
  'etcd-count-metric-poll-period': ignored,
  'etcd-db-metric-poll-interval': ignored,
  'etcd-healthcheck-timeout': ignored,
  'etcd-readycheck-timeout': ignored,
  'etcd-servers-overrides': only(''),
  'external-hostname': ignored,
  'feature-gates': only('AllAlpha=false'),
  'goaway-chance': ignored,
  'http2-max-streams-per-connection': ignored,
  'kubelet-port': ignored,
  'kubelet-read-only-port': ignored,
  'kubelet-timeout': ignored,
  'kubernetes-service-node-port': only('0'),
  'lease-reuse-duration-seconds': ignored,
  'livez-grace-period': ignored,
  'log-flush-frequency': ignored,
  'log-json-info-buffer-size': ignored,
  'log-json-split-stream': ignoredBoolean,
  'log-text-info-buffer-size': ignored,
  'log-text-split-stream': ignoredBoolean,
  'logging-format': ignored,
  'max-connection-bytes-per-sec': ignored,
  'min-compatibility-version': ignored,
  'min-request-timeout': ignored,
  'peer-advertise-ip': ignored,
  'peer-advertise-port': ignored,
  'peer-ca-file': ignored,
  'permit-address-sharing': ignoredBoolean,
  'permit-port-sharing': ignoredBoolean,
  profiling: ignoredBoolean,
  'request-timeout': ignored,
  'runtime-config': only(''),
  'runtime-config-emulation-forward-compatible': onlyFalse,
  'service-account-lookup': onlyTrue,
  'service-account-signing-endpoint': only(''),
  'service-node-port-range': only('30000-32767'),
  'show-hidden-metrics-for-version': ignored,
  'shutdown-delay-duration': ignored,
  'shutdown-send-retry-after': ignoredBoolean,
  'shutdown-watch-termination-grace-period': ignored,
  'storage-backend': only('etcd3'),
  'storage-initialization-timeout': ignored,
  'storage-media-type': ignored,
  'strict-transport-security-directives': ignored,
  'tls-cipher-suites': ignored,
  'tls-curve-preferences': ignored,
  'tls-min-version': ignored,
  v: ignored,
  vmodule: ignored,
  'watch-cache': ignoredBoolean,
  'watch-cache-sizes': ignored,
}
