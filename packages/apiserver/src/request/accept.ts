import { BoundedMap } from '@coxswain/kit'

/** The supported encodings. */
export type Encoding = 'json' | 'yaml' | 'protobuf'

/** The form that a client wants an object in. */
export interface Transform {
  readonly as: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList'
  readonly version: 'v1' | 'v1beta1'
}

export interface Accepted {
  readonly encoding: Encoding
  readonly transform?: Transform
  /** Whether to indent for people. */
  readonly pretty: boolean
}

interface Clause {
  readonly type: string
  readonly parameters: ReadonlyMap<string, string>
  readonly quality: number
}

const encodings: Readonly<Record<string, Encoding>> = {
  'application/json': 'json',
  'application/yaml': 'yaml',
  'application/vnd.kubernetes.protobuf': 'protobuf',
}

/** Recently parsed headers, and how many are kept: clients send the same few over and over. */
const remembered = new BoundedMap<string, Accepted>(64)
const longestRemembered = 512

/** {@link negotiate} for endpoints that support every encoding, `protobuf` only if set: cached by header. */
export function negotiateObject(
  accept: string | undefined,
  { protobuf }: { readonly protobuf: boolean },
): Accepted | undefined {
  if (!accept) return plainJson
  const key = protobuf ? accept : ` ${accept}`
  const known = remembered.get(key)
  if (known) return known
  const accepted = negotiate(accept, encoding => encoding !== 'protobuf' || protobuf)
  if (!accepted || accept.length > longestRemembered) return accepted
  remembered.set(key, accepted)
  return accepted
}

const plainJson: Accepted = { encoding: 'json', pretty: false }

/**
 * Picks the acceptable clause with the highest quality. JSON takes precedence over protobuf when the client accepts both: it is
 * the stored form. Undefined when nothing is acceptable.
 */
export function negotiate(
  accept: string | undefined,
  speaks: (encoding: Encoding) => boolean,
): Accepted | undefined {
  if (!accept) return plainJson
  let second: Accepted | undefined
  for (const clause of parseAccept(accept)) {
    const transform = readTransform(clause)
    if (transform === 'unknown') continue
    const pretty = clause.parameters.get('pretty') === '1'
    for (const [type, encoding] of Object.entries(encodings)) {
      if (!matches(clause.type, type) || !speaks(encoding)) continue
      const found: Accepted = { encoding, pretty, ...(transform && { transform }) }
      if (encoding !== 'protobuf') return found
      second ??= found
      break
    }
  }
  return second
}

function readTransform(clause: Clause): Transform | undefined | 'unknown' {
  const as = clause.parameters.get('as')
  if (as === undefined) return undefined
  const version = clause.parameters.get('v')
  if (clause.parameters.get('g') !== 'meta.k8s.io' || (version !== 'v1' && version !== 'v1beta1'))
    return 'unknown'
  if (as !== 'Table' && as !== 'PartialObjectMetadata' && as !== 'PartialObjectMetadataList') return 'unknown'
  return { as, version }
}

function matches(pattern: string, type: string): boolean {
  if (pattern === '*/*' || pattern === type) return true
  return pattern.endsWith('/*') && type.startsWith(pattern.slice(0, -1))
}

export function parseAccept(header: string): readonly Clause[] {
  const clauses: Clause[] = []
  for (const part of header.split(',')) {
    const [type = '', ...rest] = part.split(';')
    const parameters = new Map<string, string>()
    for (const parameter of rest) {
      const equals = parameter.indexOf('=')
      if (equals > 0) parameters.set(parameter.slice(0, equals).trim(), parameter.slice(equals + 1).trim())
    }
    const quality = Number(parameters.get('q') ?? 1)
    if (type.trim() !== '') clauses.push({ type: type.trim().toLowerCase(), parameters, quality })
  }
  return clauses.sort((a, b) => b.quality - a.quality)
}
