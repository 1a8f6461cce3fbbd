import type { Kind, KindOf } from '@coxswain/apimachinery/kinds'
import type { ApiObject, ObjectMeta } from '@coxswain/apimachinery/meta'
import { RuntimeError } from '../errors.ts'
import type { AdmissionOptions, Defaulter, Validator } from './admission.ts'

/** The result of a conversion: the fields of the other version. Metadata is copied; labels and annotations may be changed. */
export type Converted<T extends ApiObject> = Omit<T, 'apiVersion' | 'kind' | 'metadata'> & {
  metadata?: Pick<ObjectMeta, 'labels' | 'annotations'>
}

/** Conversions in both directions between two versions. Fields that the other version lacks must survive a round trip. */
export interface Conversions<T extends ApiObject, O extends ApiObject> {
  /** Into the other version. */
  readonly to: (object: T) => Converted<O>
  /** From the other version. */
  readonly from: (object: O) => Converted<T>
}

type AnyConversion = (object: ApiObject) => Converted<ApiObject>

/** One conversion from a version to another. */
export interface ConversionStep {
  readonly from: string
  readonly to: string
  readonly convert: AnyConversion
}

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
        { from: kind.version, to: other.version, convert: to as unknown as AnyConversion },
        { from: other.version, to: kind.version, convert: from as unknown as AnyConversion },
      ]
      return builder
    },
  }
  return builder
}
