import type { FieldError } from '@coxswain/apimachinery/field'
import * as field from '@coxswain/apimachinery/field'
import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { isDNS1035Label } from '@coxswain/apimachinery/validation'
import { decodeBase64Text } from '@coxswain/kit'
import { readPem } from '@coxswain/kit/x509'
import { validateClientConfig } from '../admissionregistration/webhook-client.ts'

type Findings = Generator<FieldError, void, undefined>

/** The versions of ConversionReview that the server supports. */
const reviewVersions = ['v1', 'v1beta1']

export interface ConversionRules {
  /** Whether the server must support one of the review versions. */
  readonly requireRecognizedVersion: boolean
  /** Whether an unparsable CA bundle is accepted. */
  readonly allowInvalidBundle: boolean
}

/** Paths are those of upstream's internal type, which has no `webhook` member. */
export function* validateConversion(
  conversion: JsonObject,
  path: field.Path,
  rules: ConversionRules,
): Findings {
  const strategy = conversion.strategy ?? ''
  if (strategy === '') yield field.required(path.child('strategy'))
  else if (strategy !== 'None' && strategy !== 'Webhook') {
    yield field.notSupported(path.child('strategy'), strategy, ['None', 'Webhook'])
  }
  const webhook = isObject(conversion.webhook) ? conversion.webhook : {}
  const config = isObject(webhook.clientConfig) ? webhook.clientConfig : undefined
  const versions = reviewVersionsOf(conversion)
  const configPath = path.child('webhookClientConfig')
  const versionsPath = path.child('conversionReviewVersions')
  if (strategy === 'Webhook') {
    if (!config) yield field.required(configPath, 'required when strategy is set to Webhook')
    else {
      yield* validateClientConfig(config, configPath)
      if (config.caBundle && !rules.allowInvalidBundle) yield* validateBundle(config.caBundle, configPath)
    }
    yield* validateReviewVersions(versions, versionsPath, rules)
    return
  }
  const detail = 'should not be set when strategy is not set to Webhook'
  if (config) yield field.forbidden(configPath, detail)
  if (versions.length > 0) yield field.forbidden(versionsPath, detail)
}

export function reviewVersionsOf(conversion: JsonObject | undefined): readonly string[] {
  const webhook = conversion?.webhook
  return isObject(webhook) && Array.isArray(webhook.conversionReviewVersions)
    ? (webhook.conversionReviewVersions as string[])
    : []
}

export function isRecognizedReview(versions: readonly string[]): boolean {
  return versions.some(version => reviewVersions.includes(version))
}

function* validateReviewVersions(
  versions: readonly string[],
  path: field.Path,
  rules: ConversionRules,
): Findings {
  if (versions.length === 0) {
    yield field.required(path)
    return
  }
  const seen = new Set<string>()
  for (const [index, version] of versions.entries()) {
    if (seen.has(version)) {
      yield field.invalid(path.index(index), version, 'duplicate version')
      continue
    }
    seen.add(version)
    for (const message of isDNS1035Label(version)) yield field.invalid(path.index(index), version, message)
  }
  if (rules.requireRecognizedVersion && !isRecognizedReview(versions)) {
    yield field.invalid(path, versions, `must include at least one of ${reviewVersions.join(', ')}`)
  }
}

function* validateBundle(bundle: unknown, path: field.Path): Findings {
  if (isReadableBundle(bundle)) return
  const detail = 'unable to load root certificates: data does not contain any valid RSA or ECDSA certificates'
  yield field.invalid(path.child('caBundle'), bundle, detail)
}

/** Whether the base64 of a bundle contains a certificate. */
export function isReadableBundle(bundle: unknown): boolean {
  if (typeof bundle !== 'string') return false
  const text = decodeBase64Text(bundle)
  if (text === undefined) return false
  for (const { type, headers } of readPem(text)) if (type === 'CERTIFICATE' && headers === 0) return true
  return false
}
