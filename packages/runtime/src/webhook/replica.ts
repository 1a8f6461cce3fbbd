import type { WebhookAddress } from './configurations.ts'
import type { WebhookClientConfig } from './kinds.ts'

/**
 * Where webhooks of an operator are served: the `clientConfig` of a webhook without its path. Processes that are reached by
 * URL each have their own address, and the configurations point to one of them: the one that started last. The
 * annotation names the next one.
 */
export type Replica = Readonly<WebhookClientConfig>

/** The replica that takes over when the current one stops: a `Replica` as JSON. */
export const standbyAnnotation = 'webhooks.coxswain.dev/standby'

type Annotated = { readonly metadata: { readonly annotations?: Readonly<Record<string, string>> } }

/** The replica at an address. */
export function replicaAt(address: WebhookAddress, caBundle: string | undefined): Replica {
  const trust = caBundle === undefined ? {} : { caBundle }
  if ('url' in address) return { url: address.url.replace(/\/$/, ''), ...trust }
  const { namespace, name, port = 443 } = address.service
  return { service: { namespace, name, port }, ...trust }
}

/** The replica that a webhook points to. */
export function replicaOf({ url, service, caBundle }: WebhookClientConfig): Replica | undefined {
  const trust = caBundle === undefined ? {} : { caBundle }
  if (service) {
    const { namespace, name, port = 443 } = service
    return { service: { namespace, name, port }, ...trust }
  }
  const parsed = url === undefined ? null : URL.parse(url)
  return parsed ? { url: parsed.origin, ...trust } : undefined
}

/** Whether two are the same, whatever their certificates. */
export function isSameReplica(a: Replica | undefined, b: Replica | undefined): boolean {
  const idOf = ({ url, service }: Replica) => url ?? `${service?.namespace}/${service?.name}`
  return a !== undefined && b !== undefined && idOf(a) === idOf(b)
}

/** The next replica; undefined when there is none, or when the annotation cannot be parsed. */
export function standbyOf({ metadata }: Annotated): Replica | undefined {
  const text = metadata.annotations?.[standbyAnnotation]
  if (text === undefined) return undefined
  try {
    return replicaOf(JSON.parse(text) as WebhookClientConfig)
  } catch {
    return undefined
  }
}

/** The same webhook at another replica. */
export function moveTo(
  config: WebhookClientConfig,
  { url, service, caBundle }: Replica,
): WebhookClientConfig {
  const path = config.service?.path ?? URL.parse(config.url ?? '')?.pathname ?? ''
  return {
    ...(caBundle !== undefined && { caBundle }),
    ...(service ? { service: { ...service, path } } : { url: `${url}${path}` }),
  }
}
