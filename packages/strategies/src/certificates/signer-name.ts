import * as field from '@coxswain/apimachinery/field'
import { isDNS1123Label, isDNS1123Subdomain } from '@coxswain/apimachinery/validation'
import { type Findings, invalidBecause } from '../shared/reading.ts'

const maxDomainLength = 253
const maxPathLength = 253 + 63 + 1

/** `domain/path`: a fully qualified domain of at least two labels, and a path of subdomains. */
export function* validateSignerName(name: string, path: field.Path): Findings {
  if (name === '') {
    yield field.required(path)
    return
  }
  const [domain = '', rest, ...more] = name.split('/')
  if (rest === undefined || more.length > 0) {
    const message = "must be a fully qualified domain and path of the form 'example.com/signer-name'"
    yield field.invalid(path, name, message)
    return
  }
  const labels = domain.split('.')
  if (domain.length > maxDomainLength) yield field.tooLong(path, maxDomainLength)
  yield* validateFirstBad(labels, domain, isDNS1123Label, path)
  if (labels.length < 2)
    yield field.invalid(path, domain, 'should be a domain with at least two segments separated by dots')
  yield* validateFirstBad(rest.split('.'), rest, isDNS1123Subdomain, path)
  const maxLength = maxDomainLength + maxPathLength + 1
  if (name.length > maxLength) yield field.tooLong(path, maxLength)
}

/** The errors of the first part that has any. */
function* validateFirstBad(
  parts: readonly string[],
  whole: string,
  validate: (part: string) => string[],
  path: field.Path,
): Findings {
  const bad = parts.find(part => validate(part).length > 0)
  if (bad === undefined) return
  const messages = validate(bad).map(message => `validating label ${JSON.stringify(bad)}: ${message}`)
  yield* invalidBecause(path, whole, messages)
}
