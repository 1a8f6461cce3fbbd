import type { Secret } from '@coxswain/api/core/v1'
import type { FieldError } from '@coxswain/apimachinery/field'
import * as field from '@coxswain/apimachinery/field'
import { isConfigMapKey, validateImmutableField } from '@coxswain/apimachinery/validation'
import { decodeBase64Text, encodeBase64Text } from '@coxswain/kit'
import type { Decoded } from '../decoded.ts'
import { defineStrategy } from '../define-strategy.ts'
import { ageCell, countCell, nameCell } from '../shared/cells.ts'
import { childOf } from '../shared/members.ts'
import { type Findings, invalidBecause } from '../shared/reading.ts'
import type { Strategy } from '../strategy.ts'
import { validateImmutableData } from './config-map.ts'
import { decodedLength, maxDataBytes } from './data.ts'
import { describeJsonMapError } from './json-text.ts'
import { describePairProblem } from './tls-pair.ts'

const accountNameAnnotation = 'kubernetes.io/service-account.name'

export const secretStrategy: Strategy = defineStrategy<Secret>({
  default(object) {
    if (!object.type) object.type = 'Opaque'
    absorbStringData(object)
    const data = object.data ?? {}
    for (const [key, value] of Object.entries(data)) if (value === null) data[key] = ''
  },
  validate: object => validateSecret(object),
  validateUpdate: validateSecretUpdate,
  warnings: warnAboutTls,
  fields: object => ({ type: object.type ?? '' }),
  cells: (object, now) => ({
    Name: nameCell(object),
    Type: object.type ?? '',
    Data: countCell(object.data),
    Age: ageCell(object, now),
  }),
})

/** What an author wrote as plain text wins over data of the same name, and is not seen again. */
function absorbStringData(object: Decoded<Secret>): void {
  if (!object.stringData) return
  const plain = object.stringData ?? {}
  delete object.stringData
  if (Object.keys(plain).length === 0) return
  const data = childOf(object, 'data')
  for (const [key, text] of Object.entries(plain)) data[key] = encodeBase64Text(text)
}

function* validateSecret(object: Decoded<Secret>): Findings {
  const path = field.Path.of('data')
  const data = object.data ?? {}
  let size = 0
  for (const [key, value] of Object.entries(data)) {
    yield* invalidBecause(path.key(key), key, isConfigMapKey(key))
    size += decodedLength(value ?? '')
  }
  if (size > maxDataBytes) yield field.tooLong(path, maxDataBytes)
  yield* validateType(object.type ?? '', object, data, path)
}

/** The well-known types need certain keys. */
function* validateType(
  type: string,
  object: Decoded<Secret>,
  data: Record<string, string>,
  path: field.Path,
): Findings {
  const has = (key: string) => Object.hasOwn(data, key)
  switch (type) {
    case 'kubernetes.io/service-account-token': {
      const annotations = object.metadata.annotations ?? {}
      if (!annotations[accountNameAnnotation])
        yield field.required(field.Path.of('metadata', 'annotations').key(accountNameAnnotation))
      return
    }
    case 'kubernetes.io/dockercfg':
      return yield* requireJson('.dockercfg', data, path)
    case 'kubernetes.io/dockerconfigjson':
      return yield* requireJson('.dockerconfigjson', data, path)
    case 'kubernetes.io/basic-auth':
      if (has('username') || has('password')) return
      yield field.required(path.key('username'))
      yield field.required(path.key('password'))
      return
    case 'kubernetes.io/ssh-auth':
      if (!data['ssh-privatekey']) yield field.required(path.key('ssh-privatekey'))
      return
    case 'kubernetes.io/tls':
      for (const key of ['tls.crt', 'tls.key']) if (!has(key)) yield field.required(path.key(key))
  }
}

function* requireJson(key: string, data: Record<string, string>, path: field.Path): Findings {
  if (!Object.hasOwn(data, key)) {
    yield field.required(path.key(key))
    return
  }
  const problem = describeJsonMapError(decodeBase64Text(data[key] ?? '') ?? '')
  if (problem !== undefined) yield field.invalid(path.key(key), '<secret contents redacted>', problem)
}

function validateSecretUpdate(object: Decoded<Secret>, old: Decoded<Secret>): readonly FieldError[] {
  return [
    ...validateImmutableField(object.type, old.type, field.Path.of('type')),
    ...validateImmutableData(object, old, ['data']),
  ]
}

function warnAboutTls(object: Decoded<Secret>): string[] {
  if (object.type !== 'kubernetes.io/tls') return []
  const { 'tls.crt': certificate = '', 'tls.key': key = '' } = object.data ?? {}
  const problem = describePairProblem(decodeBase64Text(certificate) ?? '', decodeBase64Text(key) ?? '')
  return problem === undefined ? [] : [problem]
}
