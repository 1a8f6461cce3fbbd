import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { describe, it } from 'node:test'
import { createRealEnv } from '@coxswain/kit'
import { RecentReconciles } from '../index.ts'
import { createDebugHandler } from './index.ts'

describe('the debug handler', () => {
  it('takes one snapshot at a time, until the client has read it or disconnected', async () => {
    using debug = createDebugHandler({ env: createRealEnv(), reconciles: new RecentReconciles() })
    const { signal } = new AbortController()
    const take = () =>
      debug.handler({ method: 'GET', path: '/debug/pprof/heap', query: '', headers: {}, signal })
    const first = await take()
    assert.equal(first.status, 200)
    assert.equal((await take()).status, 500, 'the first is not read yet')
    assert.ok(first.body instanceof Readable)
    const closed = new Promise(resolve => (first.body as Readable).once('close', resolve))
    first.body.destroy()
    await closed
    const next = await take()
    assert.equal(next.status, 200)
    for await (const _ of next.body as Readable) {
      // until the end
    }
    const last = await take()
    assert.equal(last.status, 200)
    ;(last.body as Readable).destroy()
  })

  it('takes none for other methods, whose answers have no body to read', async () => {
    using debug = createDebugHandler({ env: createRealEnv(), reconciles: new RecentReconciles() })
    const { signal } = new AbortController()
    for (const method of ['HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'constructor'])
      for (const path of ['/debug/pprof/heap', '/debug/pprof/profile', '/debug/reconciles'])
        assert.equal((await debug.handler({ method, path, query: '', headers: {}, signal })).status, 405)
  })

  it('knows only its own paths', async () => {
    using debug = createDebugHandler({ env: createRealEnv(), reconciles: new RecentReconciles() })
    const { signal } = new AbortController()
    for (const path of ['constructor', '__proto__', 'toString', '/debug/pprof/heap/', '/debug/pprof/cmdline'])
      assert.equal((await debug.handler({ method: 'GET', path, query: '', headers: {}, signal })).status, 404)
  })
})
