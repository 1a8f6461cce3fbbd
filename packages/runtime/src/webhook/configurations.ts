import type { CustomResourceConversion, Kind } from '@coxswain/apimachinery/kinds'
import type { AdmissionOptions } from './admission.ts'
import type { WebhookClientConfig, WebhookEntry } from './kinds.ts'
import type { WebhookDefinition } from './webhook-builder.ts'
import { admissionPath, conversionPath } from './webhook-handler.ts'

/** How API servers reach the webhooks of an operator. */
export type WebhookAddress =
  /** Without a path: `https://127.0.0.1:9443`. */
  | { readonly url: string }
  | {
      readonly service: {
        readonly namespace: string
        readonly name: string
        /** @default 443 */
        readonly port?: number
      }
    }

/** The names and addresses that a certificate has to be for. */
export function hostsOf(address: WebhookAddress): string[] {
  if ('url' in address) return [new URL(address.url).hostname.replace(/^\[|\]$/g, '')]
  const { namespace, name } = address.service
  return [`${name}.${namespace}.svc`, `${name}.${namespace}.svc.cluster.local`]
}

/** The webhooks, and how API servers reach them. */
export interface ConfigurationInput {
  readonly definitions: readonly WebhookDefinition[]
  readonly address: WebhookAddress
  /** PEM in base64. @default the API server's own trust roots */
  readonly caBundle?: string
}

/** A webhook configuration in the cluster. */
export interface ConfigurationReference {
  readonly kind: 'MutatingWebhookConfiguration' | 'ValidatingWebhookConfiguration'
  readonly name: string
}

/** The webhooks of a MutatingWebhookConfiguration. */
export function mutatingWebhooks({ definitions, ...where }: ConfigurationInput): WebhookEntry[] {
  return definitions.flatMap(({ kind, defaulter }) => {
    if (!defaulter) return []
    const { reinvocationPolicy = 'Never' } = defaulter.options
    const clientConfig = clientConfigOf(where, admissionPath('mutate', kind))
    return [{ ...entryOf('default', kind, defaulter.options), clientConfig, reinvocationPolicy }]
  })
}

/** The webhooks of a ValidatingWebhookConfiguration. */
export function validatingWebhooks({ definitions, ...where }: ConfigurationInput): WebhookEntry[] {
  return definitions.flatMap(({ kind, validator }) => {
    if (!validator) return []
    const clientConfig = clientConfigOf(where, admissionPath('validate', kind))
    return [{ ...entryOf('validate', kind, validator.options), clientConfig }]
  })
}

/** `spec.conversion` of the CustomResourceDefinitions that have conversions, by the CRD's name. */
export function conversionsOf({
  definitions,
  ...where
}: ConfigurationInput): Map<string, CustomResourceConversion> {
  const clientConfig = clientConfigOf(where, conversionPath)
  const conversion: CustomResourceConversion = {
    strategy: 'Webhook',
    webhook: { clientConfig, conversionReviewVersions: ['v1'] },
  }
  const converted = definitions.filter(({ conversions }) => conversions.length > 0)
  return new Map(converted.map(({ kind }) => [`${kind.resource}.${kind.group}`, conversion]))
}

function entryOf(
  verb: string,
  kind: Kind,
  options: AdmissionOptions,
): Record<string, unknown> & { name: string } {
  const { operations = ['CREATE', 'UPDATE'], subresources, matchConditions } = options
  const { group, version, resource, singular, namespaced } = kind
  return {
    name: `${verb}.${singular}-${version}.${group === '' ? 'core.k8s.io' : group}`,
    admissionReviewVersions: ['v1'],
    rules: [
      {
        apiGroups: [group],
        apiVersions: [version],
        operations: [...operations],
        resources: subresources?.map(subresource => `${resource}/${subresource}`) ?? [resource],
        scope: namespaced ? 'Namespaced' : 'Cluster',
      },
    ],
    failurePolicy: options.failurePolicy ?? 'Fail',
    matchPolicy: options.matchPolicy ?? 'Equivalent',
    namespaceSelector: options.namespaceSelector ?? {},
    objectSelector: options.objectSelector ?? {},
    sideEffects: options.sideEffects ?? 'None',
    timeoutSeconds: options.timeoutSeconds ?? 10,
    ...(matchConditions && { matchConditions }),
  }
}

function clientConfigOf(
  { address, caBundle }: Omit<ConfigurationInput, 'definitions'>,
  path: string,
): WebhookClientConfig {
  const trust = caBundle === undefined ? {} : { caBundle }
  if ('url' in address) return { ...trust, url: `${address.url.replace(/\/$/, '')}${path}` }
  const { namespace, name, port = 443 } = address.service
  return { ...trust, service: { namespace, name, path, port } }
}
