import type { ConversionStep, Conversions, Kind, KindOf } from '@coxswain/apimachinery/kinds'
import type { ApiObject } from '@coxswain/apimachinery/meta'
import { RuntimeError } from '../errors.ts'
import type { AdmissionOptions, Defaulter, Validator } from './admission.ts'

/** The webhooks of one version of a kind, as data. */
export interface WebhookDefinition {
  readonly kind: Kind
  readonly defaulter: { readonly run: Defaulter<ApiObject>; readonly options: AdmissionOptions } | undefined
  readonly validator: { readonly run: Validator<ApiObject>; readonly options: AdmissionOptions } | undefined
  readonly conversions: readonly ConversionStep[]
}

/** Describes the webhooks of one version of a kind. */
export interface WebhookBuilder<K extends Kind> {
  /** A mutating webhook that sets defaults. */
  default(defaulter: Defaulter<KindOf<K>>, options?: AdmissionOptions): WebhookBuilder<K>
  /** A validating webhook. */
  validate(validator: Validator<KindOf<K>>, options?: AdmissionOptions): WebhookBuilder<K>
  /** Converts to and from another version of the same kind. Other versions are converted through this one. */
  convert<O extends Kind>(other: O, conversions: Conversions<KindOf<K>, KindOf<O>>): WebhookBuilder<K>
}

/** `WebhookDefinition` while it is being written. */
export type DraftWebhook = { -readonly [N in keyof WebhookDefinition]: WebhookDefinition[N] }

export function createWebhookBuilder<K extends Kind>(kind: K, draft: DraftWebhook): WebhookBuilder<K> {
  const once = (what: 'defaulter' | 'validator', word: string): void => {
    if (draft[what]) throw new RuntimeError('BadDefinition', `webhook ${kind.kind} calls ${word}(...) twice`)
  }
  const builder: WebhookBuilder<K> = {
    default(defaulter, options = {}) {
      once('defaulter', 'default')
      draft.defaulter = { run: defaulter as unknown as Defaulter<ApiObject>, options }
      return builder
    },
    validate(validator, options = {}) {
      once('validator', 'validate')
      draft.validator = { run: validator as unknown as Validator<ApiObject>, options }
      return builder
    },
    convert(other, { to, from }) {
      if (other.group !== kind.group || other.kind !== kind.kind || other.version === kind.version) {
        const name = `${other.kind}.${other.version}.${other.group}`
        throw new RuntimeError('BadDefinition', `${kind.kind} ${kind.version} cannot be converted to ${name}`)
      }
      draft.conversions = [
        ...draft.conversions,
        { from: kind.version, to: other.version, convert: to as unknown as ConversionStep['convert'] },
        { from: other.version, to: kind.version, convert: from as unknown as ConversionStep['convert'] },
      ]
      return builder
    },
  }
  return builder
}
