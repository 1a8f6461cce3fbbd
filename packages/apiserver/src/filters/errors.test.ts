import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { builtinProtobuf } from '@coxswain/api'
import { newNotFound, newTooManyRequests } from '@coxswain/apimachinery/status'
import { VirtualWorld } from '@coxswain/kit'
import { StoreError } from '@coxswain/storage'
import type { RequestContext } from '../request/context.ts'
import { Warnings } from '../request/warnings.ts'
import { answerErrors } from './responses.ts'

async function fail(error: unknown, accept?: string) {
  const env = new VirtualWorld()
  const warnings = new Warnings()
  warnings.push('careful')
  const context = {
    env,
    request: {
      method: 'GET',
      path: '/',
      headers: { ...(accept && { accept }) },
      signal: new AbortController().signal,
    },
    warnings,
  } as unknown as RequestContext
  return await answerErrors(context, () => Promise.reject(error))
}

const text = (body: unknown) => new TextDecoder().decode(body as Uint8Array)
const missing = newNotFound({ group: '', resource: 'pods' }, 'x')

describe('answerErrors', () => {
  it('answers 413 for an object that is too large for the store', async () => {
    const { status, body } = await fail(new StoreError('TooLarge', 'a value of 9 bytes exceeds 8'))
    assert.equal(status, 413)
    assert.equal(JSON.parse(text(body)).message, 'Request entity too large: a value of 9 bytes exceeds 8')
  })

  it('answers with the Status, in JSON unless the client asks for another encoding', async () => {
    for (const accept of [undefined, 'text/html', '*/*', 'application/json;as=Table;v=v1;g=meta.k8s.io']) {
      const { status, headers, body } = await fail(missing, accept)
      assert.equal(status, 404)
      assert.equal(headers['content-type'], 'application/json')
      assert.equal(JSON.parse(text(body)).reason, 'NotFound')
    }
  })

  it('answers in protobuf or YAML where only that is accepted', async () => {
    const protobuf = await fail(missing, 'application/vnd.kubernetes.protobuf')
    assert.equal(protobuf.headers['content-type'], 'application/vnd.kubernetes.protobuf')
    assert.equal(builtinProtobuf.decode(protobuf.body as Uint8Array).reason, 'NotFound')
    const yaml = await fail(missing, 'application/yaml')
    assert.match(text(yaml.body), /^reason: NotFound$/m)
  })

  it('sets Retry-After, and warnings too', async () => {
    const { headers } = await fail(newTooManyRequests('later', 3))
    assert.equal(headers['retry-after'], '3')
    assert.deepEqual(headers.warning, ['299 - "careful"'])
  })

  it('answers unexpected errors with a 500', async () => {
    const { status, body } = await fail(new Error('broken'))
    assert.equal(status, 500)
    assert.equal(JSON.parse(text(body)).reason, 'InternalError')
  })
})
