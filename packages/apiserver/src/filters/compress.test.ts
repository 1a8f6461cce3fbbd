import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parsePath, parseQuery, readBody, type WireBody, type WireResponse } from '@coxswain/wire'
import { acceptsGzip, type Compression } from '../request/compression.ts'
import type { RequestContext } from '../request/context.ts'
import { parseRequestInfo } from '../request/request-info.ts'
import { createCompress } from './responses.ts'

/** Adds a prefix instead of compressing. */
const compression: Compression = {
  async *gzip(body) {
    yield new Uint8Array([1])
    yield* body
  },
  gunzip: body => body,
  pack: body => body,
}
const large = new Uint8Array(200_000)

async function ask(
  body: WireBody,
  {
    url = '/api/v1/pods',
    method = 'GET',
    encoding = 'gzip',
    ...answer
  }: Record<string, string> & { status?: never } = {},
  more: Partial<WireResponse> = {},
) {
  const [path = '', search = ''] = url.split('?')
  const info = parseRequestInfo(method, path, parsePath(path).segments, parseQuery(search))
  const context = {
    request: { method, headers: { 'accept-encoding': encoding } },
    info,
  } as unknown as RequestContext
  const response = await createCompress(compression)(context, async () => ({
    status: 200,
    headers: { ...answer },
    body,
    ...more,
  }))
  return { ...response, length: (await readBody(response.body)).length }
}

describe('createCompress', () => {
  it('compresses large responses, in one chunk, in several and streamed', async () => {
    async function* streamed() {
      yield large
    }
    for (const body of [large, [large, large], streamed()]) {
      const { headers, length } = await ask(body, { vary: 'Accept' })
      assert.equal(headers['content-encoding'], 'gzip')
      assert.equal(headers.vary, 'Accept, Accept-Encoding')
      assert.equal(length % 1_000, 1)
    }
  })

  it('does not compress small, unrequested, compressed, failed or long-running responses', async () => {
    for (const response of [
      await ask(new Uint8Array(100)),
      await ask(large, { encoding: 'identity' }),
      await ask(large, { encoding: 'gzip;q=0' }),
      await ask(large, { 'content-encoding': 'zstd' }),
      await ask(large, { method: 'POST' }),
      await ask(large, { url: '/api/v1/pods?watch=1' }),
      await ask(large, {}, { status: 500 }),
    ]) {
      assert.notEqual(response.headers['content-encoding'], 'gzip')
      assert.equal(response.length % 100, 0)
    }
  })
})

describe('acceptsGzip', () => {
  it('parses the header by RFC 9110', () => {
    for (const header of ['gzip', 'GZIP', 'deflate, gzip;q=0.5', 'br;q=1, gzip ;q=0.001'])
      assert.equal(acceptsGzip(header), true, String(header))
    for (const header of [undefined, '', 'identity', 'gzip;q=0', 'gzip; q=0.0', 'x-gzipped'])
      assert.equal(acceptsGzip(header), false, String(header))
  })
})
