import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { newControllerReference } from '@coxswain/apimachinery/meta'
import { newConflict, newInternalError, newTooManyRequests } from '@coxswain/apimachinery/status'
import { createSeededRandom } from '@coxswain/kit'
import { WorkQueue } from '@coxswain/workqueue'
import { Cache, defineOperator } from './index.ts'
import { OwnWrites } from './own-writes.ts'
import {
  type Pod,
  podKind,
  Simulation,
  type Widget,
  widgetKind,
  widgetPath,
} from './test-support/simulation.ts'

const runs = Number(process.env.TORTURE_RUNS ?? 50)
const first = Number(process.env.TORTURE_SEED ?? 1)
const names = ['a', 'b', 'c']

/** Keeps as many pods as a widget's size, and their count in its status. */
const sets = defineOperator('sets', operator => {
  operator.index(podKind, 'owner', pod => pod.metadata.ownerReferences?.map(({ name }) => name) ?? [])
  operator
    .controller('set')
    .for(widgetKind)
    .owns(podKind)
    .options({ concurrency: 2 })
    .reconcile(async ({ key, client }) => {
      const widget = await client.get(widgetKind, key)
      if (!widget) return
      const { items } = await client.list(podKind, { fields: { owner: key.name } })
      for (let i = items.length; i < widget.spec.size; i++) {
        const metadata = {
          namespace: key.namespace!,
          generateName: `${key.name}-`,
          ownerReferences: [newControllerReference(widget)],
        }
        await client.create(podKind, { metadata })
      }
      for (const { metadata } of items.slice(widget.spec.size)) {
        await client.delete(podKind, { namespace: metadata.namespace!, name: metadata.name })
      }
      if (widget.status?.seen === widget.spec.size) return
      await client.updateStatus(widgetKind, { ...widget, status: { seen: widget.spec.size } })
    })
})

/**
 * An hour of faults. In a third of the seeds widgets only grow: then there may never be a pod too many. In another third they
 * change at random; in the last one the operator crashes as well.
 */
async function torture(seed: number): Promise<void> {
  const dice = createSeededRandom(seed * 104_729)
  const growing = seed % 3 === 0
  const crashing = seed % 3 === 1
  await using sim = new Simulation({ seed, manager: { gracefulShutdown: 0 } })
  const { world, server } = sim
  const refusals = dice.next() * 0.3
  server.intercept = ({ method }) => {
    if (method === 'GET' || (!down && world.random.next() >= refusals)) return undefined
    const resource = { group: '', resource: 'x' }
    return [newInternalError('no'), newConflict(resource, 'x', 'no'), newTooManyRequests('slow down', 1)][
      world.random.below(3)
    ]
  }
  let down = false
  const sizes = new Map<string, number>()
  let running = sim.start(sets)
  for (let step = 0; step < 40; step++) {
    const name = names[dice.below(names.length)]!
    const size = growing ? (sizes.get(name) ?? 0) + dice.below(3) : dice.below(6)
    sizes.set(name, size)
    sim.createWidget(name, size)
    switch (dice.below(6)) {
      case 0:
        server.holdWatches()
        break
      case 1:
      case 2:
        server.releaseWatches()
        break
      case 3:
        server.compact()
        break
      case 4:
        if (!crashing) break
        running.stop()
        await world.run(running.transport[Symbol.asyncDispose]() as Promise<void>)
        running = sim.start(sets)
    }
    if (step === 20) {
      const before = server.writes().length
      down = true
      await world.advance(2_000)
      down = false
      const tries = server.writes().length - before
      assert.ok(tries < 100, `seed ${seed}: ${tries} tries in two seconds`)
    }
    if (dice.below(2)) await world.advance(dice.below(3_000))
    else await world.settle()
  }
  server.releaseWatches()
  server.intercept = undefined
  await world.advance(1_200_000)
  for (const [name, size] of sizes) {
    const pods = (server.objects('/api/v1/pods') as Pod[]).filter(
      ({ metadata }) => metadata.generateName === `${name}-`,
    )
    assert.equal(pods.length, size, `seed ${seed}: pods of ${name}`)
    assert.equal(
      server.object<Widget>(widgetPath(name))?.status?.seen,
      size,
      `seed ${seed}: status of ${name}`,
    )
  }
  if (growing)
    assert.ok(
      !server.writes().some(write => write.startsWith('DELETE')),
      `seed ${seed}: a pod too many was created`,
    )
  if (!crashing) assert.deepEqual(server.missed, [], `seed ${seed}: something was deleted twice`)
  const before = server.calls.length
  await world.advance(60_000)
  assert.ok(
    server.calls.length - before < 10,
    `seed ${seed}: ${server.calls.length - before} calls when all is done`,
  )
}

describe(`an operator through an hour of faults, ${runs} seeds`, () => {
  it('reaches the desired state, creates nothing twice, and then stays idle', async () => {
    for (let seed = first; seed < first + runs; seed++) await torture(seed)
  })
})

/** Replaces a method while `use` runs. */
async function withMethod<T extends object, K extends keyof T>(
  target: T,
  name: K,
  replacement: T[K],
  use: () => Promise<void>,
): Promise<void> {
  const original = target[name]
  target[name] = replacement
  try {
    await use()
  } finally {
    target[name] = original
  }
}

const { prototype: queue } = WorkQueue
const { prototype: writes } = OwnWrites
const { resolve, wrote } = writes
const { add } = queue
const { list } = Cache.prototype

/** Planted mistakes. Each has to be found by the suite above. */
const mistakes: Record<string, (use: () => Promise<void>) => Promise<void>> = {
  'forgets what it wrote': use => withMethod(writes, 'wrote', () => {}, use),
  'believes its own writes forever': use =>
    withMethod(
      writes,
      'resolve',
      function (this: OwnWrites, key, cached, progress) {
        return resolve.call(this, key, cached, { ...progress, resourceVersion: '0' }) ?? cached
      },
      async () => {
        await withMethod(
          writes,
          'wrote',
          function (this: OwnWrites, key, object, progress) {
            const metadata = { ...object.metadata, resourceVersion: '999999999' }
            wrote.call(this, key, { ...object, metadata }, progress)
          },
          use,
        )
      },
    ),
  'forgets what it deleted': use => withMethod(writes, 'deleted', () => {}, use),
  'lists without its own writes': use =>
    withMethod(
      Cache.prototype,
      'list',
      function (this: Cache, ...args) {
        const keys = this.informersFor(args[0]).flatMap(informer => informer.store.list())
        return list.apply(this, args).filter(object => keys.includes(object as never)) as never
      },
      use,
    ),
  'does not retry when it fails': use => withMethod(queue, 'addRateLimited', () => 0, use),
  'hardly backs off when it fails': use =>
    withMethod(
      queue,
      'addRateLimited',
      function (this: WorkQueue<unknown>, item) {
        add.call(this, item, { after: 1 })
        return 1
      },
      use,
    ),
  'loses what happens during a reconcile': use =>
    withMethod(
      queue,
      'add',
      function (this: WorkQueue<unknown>, item, options) {
        if (this.priorityOf(item) === 0 && this.inFlight > 0 && !options?.after) return
        add.call(this, item, options)
      },
      use,
    ),
  'never finishes an item': use => withMethod(queue, 'done', () => {}, use),
}

describe('the suite above fails when', () => {
  for (const [name, plant] of Object.entries(mistakes)) {
    it(`an operator ${name}`, async () => {
      let found = false
      for (let seed = first; seed < first + runs && !found; seed++) {
        await plant(() =>
          torture(seed).then(
            () => {},
            () => {
              found = true
            },
          ),
        )
      }
      assert.ok(found, 'nothing was noticed')
    })
  }
})
