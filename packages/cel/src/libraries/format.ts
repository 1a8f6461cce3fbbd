import {
  isQualifiedName,
  isValidLabelValue,
  nameIsDNS1035Label,
  nameIsDNSLabel,
  nameIsDNSSubdomain,
} from '@coxswain/apimachinery/validation'
import { type Library, overload } from '../functions.ts'
import { parseTimestamp } from '../time.ts'
import { opaqueOf } from '../types.ts'
import { ListValue, noneValue, type OpaqueValue, OptionalValue, type Value } from '../values.ts'
import { decodeBareBase64 } from './encoders.ts'
import { parseRequestUri } from './url.ts'

export const formatType: ReturnType<typeof opaqueOf> = opaqueOf('kubernetes.NamedFormat')

export class FormatValue implements OpaqueValue {
  readonly celType: typeof formatType = formatType
  readonly name: string
  readonly validate: (text: string) => readonly string[]
  /** What the cost functions take for the length of the format's pattern. */
  readonly maxRegexSize: number
  constructor(name: string, maxRegexSize: number, validate: (text: string) => readonly string[]) {
    this.name = name
    this.maxRegexSize = maxRegexSize
    this.validate = validate
  }
  equals(other: Value): boolean {
    return other instanceof FormatValue && other.name === this.name
  }
}

function unless(holds: boolean, message: string): readonly string[] {
  return holds ? [] : [message]
}

function isDate(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && parseTimestamp(`${text}T00:00:00Z`) !== undefined
}

/** Looser than RFC 3339, like the library Kubernetes uses. */
function isDateTime(text: string): boolean {
  const found = /^(\d{4}-\d{2}-\d{2})[tT ](\d{2}:\d{2}:\d{2})(\.\d+)?([zZ]|[+-]\d{2}:\d{2})?$/.exec(text)
  return found !== null && isDate(found[1] ?? '')
}

const uuid = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i

function isBase64(text: string): boolean {
  return text.length % 4 === 0 && decodeBareBase64(text) !== undefined
}

function uriProblems(text: string): readonly string[] {
  const read = parseRequestUri(text)
  return typeof read === 'string' ? [read] : []
}

const formats: ReadonlyMap<string, FormatValue> = new Map([
  ['dns1123Label', new FormatValue('DNS1123Label', 30, s => nameIsDNSLabel(s, false))],
  ['dns1123Subdomain', new FormatValue('DNS1123Subdomain', 60, s => nameIsDNSSubdomain(s, false))],
  ['dns1035Label', new FormatValue('DNS1035Label', 30, s => nameIsDNS1035Label(s, false))],
  ['qualifiedName', new FormatValue('QualifiedName', 60, isQualifiedName)],
  ['dns1123LabelPrefix', new FormatValue('DNS1123LabelPrefix', 30, s => nameIsDNSLabel(s, true))],
  ['dns1123SubdomainPrefix', new FormatValue('DNS1123SubdomainPrefix', 60, s => nameIsDNSSubdomain(s, true))],
  ['dns1035LabelPrefix', new FormatValue('DNS1035LabelPrefix', 30, s => nameIsDNS1035Label(s, true))],
  ['labelValue', new FormatValue('LabelValue', 40, isValidLabelValue)],
  ['uri', new FormatValue('URI', 1103, uriProblems)],
  ['uuid', new FormatValue('uuid', 72, s => unless(uuid.test(s), 'does not match the UUID format'))],
  ['byte', new FormatValue('byte', 84, s => unless(isBase64(s), 'invalid base64'))],
  ['date', new FormatValue('date', 72, s => unless(isDate(s), 'invalid date'))],
  ['datetime', new FormatValue('datetime', 72, s => unless(isDateTime(s), 'invalid datetime'))],
])

export const formatLibrary: Library = {
  name: 'kubernetes.format',
  types: [formatType],
  overloads: [
    ...[...formats].map(([name, format]) =>
      overload(`format.${name}`, `format.${name}(): kubernetes.NamedFormat`, () => format),
    ),
    overload('format-named', 'format.named(string): optional<kubernetes.NamedFormat>', (name: string) => {
      const found = formats.get(name)
      return found === undefined ? noneValue : new OptionalValue(found)
    }),
    overload(
      'format-validate',
      'validate(this kubernetes.NamedFormat, string): optional<list<string>>',
      (f: FormatValue, text: string) => {
        const problems = f.validate(text)
        return problems.length === 0 ? noneValue : new OptionalValue(new ListValue(problems))
      },
    ),
  ],
}
