import type { Kind } from '@coxswain/apimachinery/kinds'
import type { ApiObject, ObjectMeta } from '@coxswain/apimachinery/meta'
import type { Schema } from '@coxswain/apimachinery/schema'

/** The built-in kinds that webhooks use, so that importing the runtime does not load all built-in kinds. */

const anything: Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }

export interface WebhookClientConfig {
  url?: string
  service?: { namespace: string; name: string; path?: string; port?: number }
  /** PEM in base64. */
  caBundle?: string
}

/** One webhook of a configuration, with the fields that are used here. */
export interface WebhookEntry {
  name: string
  clientConfig: WebhookClientConfig
  [more: string]: unknown
}

export interface WebhookConfiguration extends ApiObject {
  webhooks?: WebhookEntry[]
}

interface WebhookConfigurationInput {
  metadata: ObjectMeta
  webhooks?: WebhookEntry[]
}

type ConfigurationKind = Kind<WebhookConfiguration, WebhookConfigurationInput, WebhookConfigurationInput>

const configurationKind = (kind: string): ConfigurationKind => ({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind,
  listKind: `${kind}List`,
  resource: `${kind.toLowerCase()}s`,
  singular: kind.toLowerCase(),
  namespaced: false,
  schema: () => anything,
})

export const mutatingKind: ConfigurationKind = configurationKind('MutatingWebhookConfiguration')
export const validatingKind: ConfigurationKind = configurationKind('ValidatingWebhookConfiguration')

export interface Secret extends ApiObject {
  type?: string
  /** Base64. */
  data?: Record<string, string>
}

interface SecretInput {
  metadata: ObjectMeta
  type?: string
  data?: Record<string, string>
}

export const secretKind: Kind<Secret, SecretInput, SecretInput> = {
  group: '',
  version: 'v1',
  kind: 'Secret',
  listKind: 'SecretList',
  resource: 'secrets',
  singular: 'secret',
  namespaced: true,
  schema: () => anything,
}

/** The field manager of CRDs and webhook configurations. */
export const fieldManager = 'coxswain'

export interface DefinitionConversion {
  strategy?: string
  webhook?: { clientConfig?: WebhookClientConfig; conversionReviewVersions?: string[] }
}

/** A CustomResourceDefinition, with the fields that are used here. */
export interface CrdObject extends ApiObject {
  spec?: { conversion?: DefinitionConversion; scope?: string; names?: { kind?: string } }
  status?: {
    storedVersions?: string[]
    conditions?: { type: string; status: string }[]
  }
}

export const crdKind: Kind<CrdObject, unknown, unknown> = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  listKind: 'CustomResourceDefinitionList',
  resource: 'customresourcedefinitions',
  singular: 'customresourcedefinition',
  namespaced: false,
  schema: () => anything,
}
