/** Our half of the comparison with upstream: not part of the package, used by its test and by `tools/oracle`. */
import { type FieldError, formatFieldError } from '../field/error.ts'
import { Path } from '../field/path.ts'
import { quote } from '../go/quote.ts'
import { type IntOrString, intValue, scaledValueFromIntOrPercent } from '../intstr/int-or-string.ts'
import type { LabelSelector } from '../meta/label-selector.ts'
import type { Condition, ObjectMeta } from '../meta/meta.ts'
import * as dns from '../validation/dns.ts'
import * as ips from '../validation/ip.ts'
import { validateConditions, validateLabelSelector } from '../validation/label-selector.ts'
import * as names from '../validation/names.ts'
import {
  nameIsDNS1035Label,
  nameIsDNSLabel,
  nameIsDNSSubdomain,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from '../validation/object-meta.ts'
import { validateFieldManager } from '../validation/options.ts'

export interface ValidationQuestion {
  readonly value?: string
  readonly meta?: ObjectMeta
  readonly old?: ObjectMeta
  readonly number?: number
  readonly port?: IntOrString
  readonly total?: number
  readonly ip?: string
  readonly selector?: LabelSelector
  readonly conditions?: readonly Condition[]
}

const path = Path.of('metadata')

const checks: Readonly<Record<string, (value: string) => string[]>> = {
  dns1123Label: dns.isDNS1123Label,
  dns1123Subdomain: dns.isDNS1123Subdomain,
  dns1123SubdomainCaseless: dns.isDNS1123SubdomainCaseless,
  dns1123SubdomainWithUnderscore: dns.isDNS1123SubdomainWithUnderscore,
  dns1035Label: dns.isDNS1035Label,
  wildcardDNS1123Subdomain: dns.isWildcardDNS1123Subdomain,
  qualifiedName: names.isQualifiedName,
  labelValue: names.isValidLabelValue,
  cIdentifier: names.isCIdentifier,
  envVarName: names.isEnvVarName,
  relaxedEnvVarName: names.isRelaxedEnvVarName,
  configMapKey: names.isConfigMapKey,
  pathSegmentName: names.isValidPathSegmentName,
  percent: names.isValidPercent,
  httpHeaderName: names.isHTTPHeaderName,
  portName: names.isValidPortName,
  generatedSubdomain: name => nameIsDNSSubdomain(name, true),
  generatedLabel: name => nameIsDNSLabel(name, true),
  generated1035Label: name => nameIsDNS1035Label(name, true),
  fieldManager: name => validateFieldManager(name, path).map(errorText),
}

export function answerValidation(question: ValidationQuestion): unknown {
  const { value, meta, old, number, port, total = 0, ip, selector, conditions } = question
  if (ip !== undefined) return answerIP(ip)
  if (selector) return validateLabelSelector(selector, path).map(errorText)
  if (conditions) return validateConditions(conditions, path).map(errorText)
  if (value !== undefined) {
    const wrong = Object.entries(checks).flatMap(([name, check]) => {
      const messages = check(value)
      return messages.length > 0 ? [[name, messages] as const] : []
    })
    return { ...Object.fromEntries(wrong), quoted: quote(value) }
  }
  if (number !== undefined) {
    const wrong = names.isValidPortNum(number)
    return { port: wrong.length > 0 ? wrong : null }
  }
  if (port !== undefined) {
    return {
      text: String(port),
      int: intValue(port),
      up: scaled(port, total, 'up'),
      down: scaled(port, total, 'down'),
    }
  }
  if (old) return validateObjectMetaUpdate(meta!, old, path).map(errorText)
  const rules = { namespaced: true, validateName: nameIsDNSSubdomain }
  return validateObjectMeta(meta!, rules, path).map(errorText)
}

function answerIP(text: string): unknown {
  const legacyIP = ips.isValidIPForLegacyField(path, text, { strict: false }).map(errorText)
  const legacyCIDR = ips.isValidCIDRForLegacyField(path, text, { strict: false }).map(errorText)
  return {
    ip: ips.isValidIP(path, text).map(errorText),
    legacyIP,
    cidr: ips.isValidCIDR(path, text).map(errorText),
    legacyCIDR,
    interface: ips.isValidInterfaceAddress(path, text).map(errorText),
    ...(legacyIP.length === 0 && { ipWarnings: ips.warningsForIP(path, text) }),
    ...(legacyCIDR.length === 0 && { cidrWarnings: ips.warningsForCIDR(path, text) }),
  }
}

function scaled(port: IntOrString, total: number, rounding: 'up' | 'down'): number | string {
  try {
    return scaledValueFromIntOrPercent(port, total, rounding)
  } catch (error) {
    return (error as Error).message
  }
}

function errorText(error: FieldError): string {
  return `${error.type} ${formatFieldError(error)}`
}
