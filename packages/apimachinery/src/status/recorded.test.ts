/** Failures recorded from a real kube-apiserver, reproduced by our constructors: byte for byte. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { gunzipSync } from 'node:zlib'
import type { FieldError } from '../field/index.ts'
import * as field from '../field/index.ts'
import type { Status, StatusCause } from '../meta/status.ts'
import {
  newAlreadyExists,
  newBadRequest,
  newConflict,
  newForbidden,
  newInternalError,
  newInvalid,
  newNotAcceptable,
  newNotFound,
  newTooLargeResourceVersion,
  newUnknownError,
  newUnsupportedMediaType,
  optimisticLockMessage,
} from './constructors.ts'
import { newGenericServerResponse } from './generic-response.ts'
import type { StatusError } from './status-error.ts'

const file = new URL('../../fixtures/statuses.json.gz', import.meta.url)
const statuses = JSON.parse(gunzipSync(readFileSync(file)).toString('utf8')) as Status[]

const resourceOf = ({ details }: Status) => ({ group: details?.group ?? '', resource: details?.kind ?? '' })
const nameOf = ({ details }: Status): string => details?.name ?? ''

// Each maker recognises the wording it stands for; undefined means that the message is of another origin.
const makers: Readonly<Record<string, (status: Status) => StatusError | undefined>> = {
  NotFound: status =>
    status.details && !status.message!.startsWith('the server')
      ? / not found$/.test(status.message!)
        ? newNotFound(resourceOf(status), nameOf(status))
        : undefined
      : newGenericServerResponse({ code: 404, verb: 'GET', serverMessage: '', unexpected: false }),
  AlreadyExists: status =>
    status.message!.includes(': ') ? undefined : newAlreadyExists(resourceOf(status), nameOf(status)),
  Conflict: status =>
    status.message!.endsWith(optimisticLockMessage)
      ? newConflict(resourceOf(status), nameOf(status), optimisticLockMessage)
      : undefined,
  Forbidden: status => {
    const reason = / is forbidden: (.*)$/s.exec(status.message!)?.[1]
    return reason && !status.details?.causes
      ? newForbidden(resourceOf(status), nameOf(status), reason)
      : undefined
  },
  BadRequest: status => (status.details ? undefined : newBadRequest(status.message!)),
  MethodNotAllowed: status =>
    status.message!.startsWith('the server does not')
      ? newGenericServerResponse({ code: 405, verb: 'PUT', serverMessage: '', unexpected: false })
      : undefined,
  NotAcceptable: status => {
    const accepted = /^only the following media types are accepted: (.*)$/.exec(status.message!)?.[1]
    return accepted ? newNotAcceptable(accepted.split(', ')) : undefined
  },
  UnsupportedMediaType: status => {
    const accepted = / accepted media types include: (.*)$/.exec(status.message!)?.[1]
    return accepted ? newUnsupportedMediaType(accepted.split(', ')) : undefined
  },
  InternalError: status => newInternalError(status.details!.causes![0]!.message!),
  '': status => (status.details ? undefined : newUnknownError(status.message!)),
}

describe('recorded failures', () => {
  for (const [reason, make] of Object.entries(makers)) {
    it(`are reproduced, members in the same order: ${reason || 'no reason'}`, () => {
      let made = 0
      for (const status of statuses.filter(candidate => (candidate.reason ?? '') === reason)) {
        const error = make(status)
        if (!error) continue
        made++
        assert.equal(JSON.stringify(error.status), JSON.stringify(status))
      }
      assert.ok(made > 0, 'nothing was compared')
    })
  }

  it('say the same about a resource version from the future', () => {
    const status = statuses.find(candidate => candidate.reason === 'Timeout')!
    const { message, ...rest } = newTooLargeResourceVersion(9n, 7n, 1).status
    assert.equal(message!.replace(/\b[79]\b/g, '<rv>'), status.message)
    assert.deepEqual({ ...rest, message: status.message }, status)
  })

  it('of invalid objects are reproduced from their causes', () => {
    let made = 0
    for (const status of statuses.filter(candidate => candidate.reason === 'Invalid')) {
      if (!/ is invalid: /.test(status.message!)) continue
      const { group = '', kind = '', name = '', causes = [] } = status.details!
      const errors = causes.map(fieldErrorOf)
      const error = newInvalid({ group, kind }, name, errors)
      assert.deepEqual({ ...error.status, message: '' }, { ...status, message: '' })
      if (!hasOtherWording(status)) assert.equal(error.message, status.message)
      made++
    }
    assert.ok(made > 1000, `only ${made} were compared`)
  })

  it('about fields are reproduced from path, value and detail', () => {
    let made = 0
    const causes = statuses.flatMap(status => status.details?.causes ?? [])
    for (const cause of causes) {
      const error = rebuild(cause)
      if (!error) continue
      made++
      assert.deepEqual({ reason: error.type, message: error.body, field: error.field }, cause)
    }
    assert.ok(made > 1000, `only ${made} were compared`)
  })
})

function fieldErrorOf({ reason, message = '', field: path = '' }: StatusCause): FieldError {
  return { type: reason as FieldError['type'], body: message, field: path }
}

// A few servers' messages come from one place and their causes from another.
function hasOtherWording(status: Status): boolean {
  return status.details!.causes!.some(cause => !status.message!.includes(`${cause.field}: ${cause.message}`))
}

/** What the path stands for does not matter here, only that it prints. */
function pathOf(text: string): field.Path {
  return text === '<nil>' ? field.Path.root : field.Path.of(text)
}

const literal = /^[^:]+: ("(?:[^"\\]|\\.)*"|-?\d+|true|false|null|\{.*?\}|\[.*?\])(?:: (.*))?$/s

function rebuild({ reason, message = '', field: text = '' }: StatusCause): FieldError | undefined {
  if (text === '' || message.includes('"<uid>"')) return undefined // the mask of a value that changes
  const path = pathOf(text)
  const detail = message.slice(message.indexOf(': ') + 2)
  switch (reason) {
    case 'FieldValueRequired':
      return field.required(path, message === 'Required value' ? '' : detail)
    case 'FieldValueForbidden':
      return field.forbidden(path, detail)
    case 'FieldValueTooLong': {
      const count = Number(/\d+/.exec(message)![0])
      return message.includes('byte') ? field.tooLong(path, count) : field.tooLongCharacters(path, count)
    }
    case 'FieldValueTooMany': {
      const [, actual, max] = /^Too many: (\d+): must have at most (\d+) items?$/.exec(message)!
      return field.tooMany(path, Number(actual), Number(max))
    }
    case 'InternalError':
      return field.internalError(path, new Error(detail))
  }
  const match = literal.exec(message)
  const value = match && readLiteral(match[1]!)
  if (!match || value === undefined) return undefined
  switch (reason) {
    case 'FieldValueInvalid':
      return field.invalid(path, value, match[2] ?? '')
    case 'FieldValueTypeInvalid':
      return field.typeInvalid(path, value, match[2] ?? '')
    case 'FieldValueDuplicate':
      return field.duplicate(path, value, match[2])
    case 'FieldValueNotFound':
      return field.notFound(path, value, match[2])
    case 'FieldValueNotSupported': {
      const list = match[2]?.replace('supported values: ', '') ?? ''
      const values = (list.match(/"(?:[^"\\]|\\.)*"/g) ?? []).map(item => readLiteral(item) as string)
      return field.notSupported(path, value, values)
    }
    default:
      return undefined
  }
}

/** Built-in kinds print their structs member by member. */
function isStruct(text: string): boolean {
  return text.startsWith('{') || text.startsWith('[{')
}

/** A Go literal; undefined for what prints other than plain JSON, such as a Go struct. */
function readLiteral(text: string): unknown {
  if (/^-?\d+$/.test(text)) return BigInt(text)
  try {
    const value: unknown = JSON.parse(
      text.replace(/\\x/g, '\\u00').replace(/\\a/g, '\\u0007').replace(/\\v/g, '\\u000b'),
    )
    return isStruct(text) ? field.Printed.inOrder(value) : value
  } catch {
    return undefined
  }
}
