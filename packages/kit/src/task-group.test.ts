import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { describe, it } from 'node:test'
import { aborted } from './abort.ts'
import { TaskGroup } from './task-group.ts'

describe('a task group', () => {
  it('joins every task, those spawned by other tasks included', async () => {
    const group = new TaskGroup()
    const seen: string[] = []
    group.spawn(async () => {
      await undefined
      group.spawn(async () => {
        await undefined
        seen.push('child')
      })
      seen.push('parent')
    })
    group.spawn(() => {
      seen.push('synchronous')
    })
    await group.join()
    assert.deepEqual(seen, ['synchronous', 'parent', 'child'])
    await group.join()
  })

  it('aborts the others when one fails, and joins with that failure after all have stopped', async () => {
    const group = new TaskGroup()
    const failure = new Error('boom')
    let stopped = false
    group.spawn(async signal => {
      await aborted(signal)
      await undefined
      stopped = true
      throw signal.reason
    })
    group.spawn(async () => {
      await undefined
      throw failure
    })
    await assert.rejects(group.join(), error => error === failure)
    assert.equal(stopped, true)
    assert.equal(group.signal.reason, failure)
  })

  it('keeps the first of two failures', async () => {
    const group = new TaskGroup()
    group.spawn(() => {
      throw new Error('first')
    })
    group.spawn(() => {
      throw new Error('second')
    })
    await assert.rejects(group.join(), /first/)
  })

  it('does not count a task as failed that ends because the group was aborted', async () => {
    const group = new TaskGroup()
    group.spawn(async signal => {
      await aborted(signal)
      signal.throwIfAborted()
    })
    group.abort(new Error('any reason'))
    await group.join()
  })

  it('counts an abort error as a failure if the group was not aborted', async () => {
    const group = new TaskGroup()
    group.spawn(() => {
      throw new DOMException('another signal', 'AbortError')
    })
    await assert.rejects(group.join(), /another signal/)
  })

  it('counts a real failure while stopping', async () => {
    const group = new TaskGroup()
    group.spawn(async signal => {
      await aborted(signal)
      throw new Error('cannot clean up')
    })
    group.abort()
    await assert.rejects(group.join(), /cannot clean up/)
  })

  it('aborts with its parent, whether that has happened or is to come', async () => {
    const controller = new AbortController()
    const early = new TaskGroup(controller.signal)
    controller.abort('later')
    const late = new TaskGroup(controller.signal)
    assert.equal(early.signal.reason, 'later')
    assert.equal(late.signal.reason, 'later')
  })

  it('leaves nothing on its parent once joined, and follows it again when used again', async () => {
    const controller = new AbortController()
    const group = new TaskGroup(controller.signal)
    group.spawn(() => {})
    await group.join()
    assert.equal(getEventListeners(controller.signal, 'abort').length, 0)
    group.spawn(aborted)
    assert.equal(getEventListeners(controller.signal, 'abort').length, 1)
    controller.abort()
    await group.join()
  })

  it('aborts and joins when it goes out of scope', async () => {
    let stopped = false
    {
      await using group = new TaskGroup()
      group.spawn(async signal => {
        await aborted(signal)
        stopped = true
      })
    }
    assert.equal(stopped, true)
  })

  it('reports a failure once: leaving the scope after a failed join throws nothing else', async () => {
    const failure = new Error('boom')
    const run = async (): Promise<void> => {
      await using group = new TaskGroup()
      group.spawn(async () => {
        throw failure
      })
      await group.join()
    }
    await assert.rejects(run(), error => error === failure)
    const leave = async (): Promise<void> => {
      await using group = new TaskGroup()
      group.spawn(async () => {
        throw failure
      })
    }
    await assert.rejects(leave(), error => error === failure, 'it was not reported before')
  })
})
