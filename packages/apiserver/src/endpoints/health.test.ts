import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { StoreError } from '@coxswain/storage'
import { parsePath, parseQuery } from '@coxswain/wire'
import type { RequestContext } from '../request/context.ts'
import { createHealthChecks, serveHealth } from './health.ts'

const facts = {
  isLoaded: true,
  isReady: true,
  isDraining: false,
  failure: undefined as unknown,
  writeFailure: undefined as StoreError | undefined,
}

function ask(url: string, changes: Partial<typeof facts> = {}) {
  const now = { ...facts, ...changes }
  const checks = createHealthChecks({
    store: { writeFailure: () => now.writeFailure },
    cache: { isLoaded: now.isLoaded, failure: now.failure ? { error: now.failure } : undefined },
    isReady: () => now.isReady,
    isDraining: () => now.isDraining,
  })
  const [path = '', query = ''] = url.split('?')
  const context = { path: parsePath(path), query: parseQuery(query) } as unknown as RequestContext
  const { status, body } = serveHealth(context, checks)!
  return { status, text: new TextDecoder().decode(body as Uint8Array) }
}

describe('serveHealth', () => {
  it('answers ok, and lists all checks with ?verbose', () => {
    for (const endpoint of ['healthz', 'livez', 'readyz']) {
      assert.deepEqual(ask(`/${endpoint}`), { status: 200, text: 'ok' })
      const { text } = ask(`/${endpoint}?verbose`)
      assert.match(text, /^\[\+\]ping ok\n\[\+\]log ok\n\[\+\]etcd ok\n/)
      assert.ok(text.endsWith(`${endpoint} check passed\n`))
    }
  })

  it('answers single checks, also those with a slash in their name', () => {
    assert.deepEqual(ask('/livez/ping'), { status: 200, text: 'ok' })
    assert.deepEqual(ask('/readyz/poststarthook/rbac/bootstrap-roles'), { status: 200, text: 'ok' })
    const failed = ask('/readyz/poststarthook/rbac/bootstrap-roles', { isReady: false })
    assert.deepEqual(failed, { status: 500, text: 'internal server error: not finished\n' })
    assert.equal(ask('/readyz/nonsense').status, 404)
    assert.equal(ask('/livez/shutdown').status, 404)
  })

  it('does not reveal the reason of a failure', () => {
    const { status, text } = ask('/livez', { failure: 'a secret' })
    assert.equal(status, 500)
    assert.match(text, /^\[-\]etcd failed: reason withheld$/m)
    assert.ok(text.endsWith('livez check failed\n'))
    assert.ok(!text.includes('secret'))
  })

  it('skips excluded checks, and reports unknown ones', () => {
    const { status, text } = ask('/readyz?verbose&exclude=etcd&exclude=etcd-readiness&exclude=x', {
      failure: 'gone',
    })
    assert.equal(status, 200)
    assert.match(text, /^\[\+\]etcd excluded: ok$/m)
    assert.match(text, /^warn: some health checks cannot be excluded: no matches for "x"$/m)
  })

  it('is alive but not ready while the store is full, and neither when the store has failed', () => {
    const full = { writeFailure: new StoreError('NoSpace', 'no space left') }
    assert.equal(ask('/readyz', full).status, 500)
    assert.equal(ask('/livez', full).status, 200)
    assert.equal(ask('/readyz/etcd-readiness', full).text, 'internal server error: no space left\n')
    const failed = { writeFailure: new StoreError('Failed', 'a commit failed') }
    assert.equal(ask('/readyz', failed).status, 500)
    assert.equal(ask('/livez', failed).status, 500)
  })

  it('is alive but not ready while it stops', () => {
    assert.equal(ask('/readyz', { isDraining: true }).status, 500)
    assert.equal(ask('/livez', { isDraining: true }).status, 200)
  })
})
