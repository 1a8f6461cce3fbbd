import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { invalid, required } from '../field/error.ts'
import { Path } from '../field/path.ts'
import { isStatus } from '../meta/status.ts'
import * as make from './constructors.ts'
import { newGenericServerResponse } from './generic-response.ts'
import * as is from './predicates.ts'
import { failureStatus, isStatusError, StatusError } from './status-error.ts'

const pods = { group: '', resource: 'pods' }
const gone = new StatusError(failureStatus({ code: 410, reason: 'Gone', message: 'x' }))
const serverTimeout = (retryAfterSeconds: number) =>
  new StatusError(
    failureStatus({ code: 500, reason: 'ServerTimeout', message: 'x', details: { retryAfterSeconds } }),
  )
const deployments = { group: 'apps', resource: 'deployments' }

describe('StatusError', () => {
  it('has the message, code and reason of its Status', () => {
    const error = make.newNotFound(deployments, 'web')
    assert.equal(error.message, 'deployments.apps "web" not found')
    assert.equal(error.code, 404)
    assert.equal(error.reason, 'NotFound')
    assert.ok(isStatus(error.status))
  })

  it('is recognised when another copy of the package made it', async () => {
    // A query makes Node load the module a second time.
    const copyOf: string = './status-error.ts?copy'
    const copy = (await import(copyOf)) as { StatusError: typeof StatusError }
    assert.notEqual(copy.StatusError, StatusError)
    const error = new copy.StatusError(failureStatus({ code: 409, reason: 'Conflict', message: 'x' }))
    assert.ok(!(error instanceof StatusError))
    assert.ok(isStatusError(error))
    assert.ok(is.isConflict(error))
  })

  it('is found behind other errors, also when causes go in circles', () => {
    const wrapped = new Error('reconcile failed', { cause: make.newNotFound(pods, 'a') })
    assert.ok(is.isNotFound(wrapped))
    const circle = new Error('a')
    circle.cause = new Error('b', { cause: circle })
    assert.ok(!is.isNotFound(circle))
  })

  it('keeps the error it was made of', () => {
    const cause = new Error('quota exceeded')
    assert.equal(make.newForbidden(pods, 'a', cause).cause, cause)
  })
})

describe('predicates', () => {
  it('distinguish every constructed failure', () => {
    const cases: [(error: unknown) => boolean, StatusError][] = [
      [is.isNotFound, make.newNotFound(pods, 'a')],
      [is.isAlreadyExists, make.newAlreadyExists(pods, 'a')],
      [is.isConflict, make.newConflict(pods, 'a', 'x')],
      [is.isInvalid, make.newInvalid({ group: '', kind: 'Pod' }, 'a', [])],
      [is.isResourceExpired, make.newResourceExpired('x')],
      [is.isNotAcceptable, make.newNotAcceptable([])],
      [is.isUnsupportedMediaType, make.newUnsupportedMediaType([])],
      [is.isMethodNotSupported, make.newMethodNotSupported(pods, 'create')],
      [is.isServiceUnavailable, make.newServiceUnavailable('x')],
      [is.isBadRequest, make.newBadRequest('x')],
      [is.isUnauthorized, make.newUnauthorized('')],
      [is.isForbidden, make.newForbidden(pods, 'a', 'x')],
      [is.isTimeout, make.newTimeout('x', 0)],
      [is.isServerTimeout, serverTimeout(2)],
      [is.isInternalError, make.newInternalError('x')],
      [is.isTooManyRequests, make.newTooManyRequests('x', 1)],
      [is.isRequestEntityTooLarge, make.newRequestEntityTooLarge('x')],
    ]
    for (const [predicate] of cases) {
      const matching = cases.filter(([, error]) => predicate(error)).map(([other]) => other.name)
      assert.deepEqual(matching, [predicate.name])
      for (const other of [undefined, null, 'x', 404, new Error('not found'), {}]) {
        assert.equal(predicate(other), false)
      }
    }
  })

  it('use the code when Kubernetes does not know the reason', () => {
    const teapot = new StatusError(failureStatus({ code: 404, reason: 'Teapot', message: '' }))
    assert.ok(is.isNotFound(teapot))
    const known = new StatusError(failureStatus({ code: 404, reason: 'Forbidden', message: '' }))
    assert.ok(!is.isNotFound(known))
  })

  it('treat both forms of 410 as expired', () => {
    assert.ok(is.isExpired(gone))
    assert.ok(is.isExpired(make.newResourceExpired('x')))
  })

  it('find the delay that a server asks for', () => {
    assert.equal(is.suggestsClientDelay(make.newTooManyRequests('x', 7)), 7)
    assert.equal(is.suggestsClientDelay(serverTimeout(0)), 0)
    assert.equal(is.suggestsClientDelay(make.newTimeout('x', 0)), undefined)
    assert.equal(is.suggestsClientDelay(make.newBadRequest('x')), undefined)
  })

  it('find causes', () => {
    const error = make.newTooLargeResourceVersion(9, 7, 1)
    assert.ok(is.isTooLargeResourceVersion(error))
    assert.equal(is.findStatusCause(error, 'ResourceVersionTooLarge')?.message, 'Too large resource version')
    assert.equal(is.findStatusCause(error, 'Other'), undefined)
  })
})

describe('newInvalid', () => {
  it('lists errors in brackets, each text once, and all of them as causes', () => {
    const errors = [
      required(Path.of('spec', 'selector')),
      required(Path.of('spec', 'selector')),
      invalid(Path.of('spec', 'replicas'), -1, 'must be greater than or equal to 0'),
    ]
    const { message, status } = make.newInvalid({ group: 'apps', kind: 'Deployment' }, 'x', errors)
    assert.equal(
      message,
      'Deployment.apps "x" is invalid: [spec.selector: Required value, spec.replicas: Invalid value: -1: must be greater than or equal to 0]',
    )
    assert.equal(status.details?.causes?.length, 3)
  })

  it('puts no brackets around one error, and says nothing after no error', () => {
    const kind = { group: '', kind: 'Pod' }
    assert.equal(
      make.newInvalid(kind, 'x', [required(Path.of('a'))]).message,
      'Pod "x" is invalid: a: Required value',
    )
    assert.equal(make.newInvalid(kind, 'x', []).message, 'Pod "x" is invalid')
  })
})

describe('newGenericServerResponse', () => {
  const response = {
    verb: 'GET',
    serverMessage: 'oops',
    unexpected: true,
    resource: deployments,
    name: 'web',
  }

  it('says what was asked for, and keeps the body as a cause', () => {
    const error = newGenericServerResponse({ ...response, code: 404 })
    assert.equal(error.message, 'the server could not find the requested resource (get deployments.apps web)')
    assert.ok(is.isNotFound(error))
    assert.ok(is.isUnexpectedServerError(error))
    assert.equal(error.status.details?.causes?.[0]?.message, 'oops')
  })

  it('shows the body of a server error and of a rejection', () => {
    const broken =
      'an error on the server ("oops") has prevented the request from succeeding (get deployments.apps web)'
    assert.equal(newGenericServerResponse({ ...response, code: 502 }).message, broken)
    assert.equal(
      newGenericServerResponse({ ...response, code: 403 }).message,
      'oops (get deployments.apps web)',
    )
  })

  it('treats a conflict on POST as an existing object', () => {
    assert.ok(is.isAlreadyExists(newGenericServerResponse({ ...response, code: 409, verb: 'POST' })))
    assert.ok(is.isConflict(newGenericServerResponse({ ...response, code: 409, verb: 'PUT' })))
  })

  it('has no reason for a code without meaning', () => {
    const error = newGenericServerResponse({ code: 418, verb: 'GET', serverMessage: '', unexpected: false })
    assert.equal(error.reason, '')
    assert.equal(
      error.message,
      'the server responded with the status code 418 but did not return more information',
    )
  })
})
