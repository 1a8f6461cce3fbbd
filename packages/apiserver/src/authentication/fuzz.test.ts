import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createSeededRandom } from '@coxswain/kit'
import { startTestServer } from '../test-support/token-server.ts'
import { readImpersonatedUser } from './impersonation/impersonated-user.ts'
import { parseJwt } from './jwt/jwt.ts'

const seed = Number(process.env.SEED ?? 11)
const rounds = 3000

describe(`malformed credentials (SEED=${seed})`, () => {
  const random = createSeededRandom(seed)
  const pick = <T>(items: readonly T[]): T => items[random.below(items.length)]!

  it('are rejected: any change to a valid token makes it invalid, and nothing crashes', async () => {
    await using server = await startTestServer()
    await server.create('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'bot' } })
    const { status } = await server.create('/api/v1/namespaces/default/serviceaccounts/bot/token', {})
    const good = status!.token as string
    const alphabet = 'ABCXYZabcxyz019-_.=+/ {}"\u00ff\u0000'
    for (let i = 0; i < 300; i++) {
      const at = random.below(good.length)
      const token = pick([
        () => good.slice(0, at) + pick([...alphabet]) + good.slice(at + 1),
        () => good.slice(0, at) + good.slice(at + 1 + random.below(5)),
        () => good.slice(0, at) + pick([...alphabet]) + good.slice(at),
        () => good.split('.').reverse().join('.'),
      ])()
      if (token === good || token.includes(' ')) continue
      const answer = await server.withToken(token)
      assert.equal(answer.status, 401, JSON.stringify({ token, good }))
    }
    assert.equal((await server.withToken(good)).status, 201)
  })

  it('never throw when parsed', () => {
    const parts = [
      '',
      '.',
      '..',
      'e30',
      'e30.e30.',
      'bnVsbA',
      'W10',
      'eyJhbGciOjF9',
      '__proto__',
      '\ud800',
      '=',
      '💥',
    ]
    for (let i = 0; i < rounds; i++) {
      let token = ''
      for (let n = random.below(6); n >= 0; n--) token += pick(parts)
      const jwt = parseJwt(token)
      if (jwt) assert.equal(typeof jwt.algorithm, 'string')
    }
    assert.equal(Object.getOwnPropertyNames(Object.prototype).includes('polluted'), false)
  })

  it('name the impersonated user as plain data', () => {
    const keys = [
      'user',
      'group',
      'uid',
      'extra-',
      'extra-__proto__',
      'extra-constructor',
      'extra-%zz',
      'extra-a%2fb',
    ]
    for (let i = 0; i < rounds; i++) {
      const headers: Record<string, string | string[]> = Object.create(null)
      for (let n = random.below(5); n >= 0; n--)
        headers[`impersonate-${pick(keys)}`] = pick<string | string[]>([
          'x',
          '',
          ['a', 'b'],
          '__proto__',
          '\u00fc',
        ])
      try {
        const wanted = readImpersonatedUser(headers)
        if (wanted) for (const values of Object.values(wanted.extra)) assert.ok(Array.isArray(values))
      } catch (error) {
        assert.match((error as Error).message, /without impersonating a user name$/)
      }
    }
    assert.equal(({} as Record<string, unknown>).polluted, undefined)
  })
})
