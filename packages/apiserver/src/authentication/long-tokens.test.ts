import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { decodeBase64Url, encodeBase64Url, VirtualWorld } from '@coxswain/kit'
import { startTestServer } from '../test-support/token-server.ts'
import type { TokenQuestion } from './authenticator.ts'
import { longestToken } from './bearer-token.ts'
import { parseJwtOnce } from './jwt/jwt.ts'
import { cacheTokens } from './token-cache.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

describe('long bearer tokens', () => {
  it('over the limit are rejected before any authenticator reads them', async () => {
    const asked: number[] = []
    const tokens = [
      (token: string) => {
        asked.push(token.length)
        return undefined
      },
    ]
    await using server = await startTestServer({ world: new VirtualWorld(), authentication: { tokens } })
    assert.equal((await server.withToken('x'.repeat(longestToken + 1))).status, 401)
    assert.equal((await server.withToken('x'.repeat(900_000))).status, 401)
    assert.deepEqual(asked, [])
    assert.equal((await server.withToken('x'.repeat(longestToken))).status, 401)
    assert.deepEqual(asked, [longestToken])
  })

  it('are parsed once for all authenticators', () => {
    const part = (value: object) => encodeBase64Url(new TextEncoder().encode(JSON.stringify(value)))
    const token = `${part({ alg: 'ES256' })}.${part({ iss: 'a' })}.AAAA`
    const question = {}
    const first = parseJwtOnce(token, question)
    assert.equal(first?.claims.iss, 'a')
    assert.equal(parseJwtOnce(token, question), first)
    assert.notEqual(parseJwtOnce(token, {}), first)
    assert.equal(parseJwtOnce('x', question), undefined)
  })

  it('do not fill the cache of rejected tokens', () => {
    const { clock } = new VirtualWorld()
    let asked = 0
    const ask = cacheTokens(
      () => {
        asked++
        return undefined
      },
      { clock, ttl: 60_000 },
    )
    const question = { audiences: ['api'] } as unknown as TokenQuestion
    const token = (index: number) => `${index}`.padEnd(20_000, 'x')
    collectGarbage()
    const before = process.memoryUsage().heapUsed
    for (let i = 0; i < 1_000; i++) ask(token(i), question)
    collectGarbage()
    const grown = process.memoryUsage().heapUsed - before
    assert.ok(grown < 4 * 1024 ** 2, `${Math.round(grown / 1024)} KiB more`)
    ask(token(7), question)
    assert.equal(asked, 1_000)
    ask(token(7), { ...question, audiences: ['other'] })
    assert.equal(asked, 1_001)
  })
})

describe('base64url', () => {
  it('has one encoding for each value', () => {
    for (let length = 0; length < 40; length++) {
      const bytes = Uint8Array.from({ length }, (_, index) => (index * 89 + length) % 256)
      assert.deepEqual(decodeBase64Url(encodeBase64Url(bytes)), bytes)
    }
    for (const text of ['A', 'AAAAA', 'AB', 'AAB', 'AA==', 'A A', 'A+/A', 'AA\n']) {
      assert.equal(decodeBase64Url(text), undefined, text)
    }
  })
})
