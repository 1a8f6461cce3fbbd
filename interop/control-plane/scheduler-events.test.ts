import assert from 'node:assert/strict'
import { hostname } from 'node:os'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Event as CoreEvent, PersistentVolumeClaim, Pod } from '@coxswain/api/core/v1'
import { Event } from '@coxswain/api/events/v1'
import { StorageClass } from '@coxswain/api/storage/v1'
import type { ApiObject } from '@coxswain/apimachinery/meta'
import type { Client } from '@coxswain/client'
import { create } from '../../packages/testing/src/test-support/scheduling/apply-step.ts'
import { type Given, node, pod } from '../../packages/testing/src/test-support/scheduling/scenario.ts'
import { type Side, startOurs, startReal } from './scheduler-sides.ts'

const namespace = 'default'

/** What chance and the clock decide, by what it is. Equal values stay equal. */
class Mask {
  readonly #names = new Map<string, string>()

  of(value: unknown, key = ''): unknown {
    if (Array.isArray(value)) return value.map(each => this.of(each))
    if (typeof value === 'string') return this.#text(value, key)
    if (typeof value !== 'object' || value === null) return value
    const entries = Object.entries(value).filter(([name]) => name !== 'managedFields')
    return Object.fromEntries(entries.map(([name, each]) => [name, this.of(each, name)]))
  }

  #text(value: string, key: string): string {
    if (/(Time|Timestamp)$/i.test(key)) return value.replaceAll(/\d/g, '9')
    if (key === 'uid' || key === 'resourceVersion') return this.#numbered(key, value)
    if (key === 'name') return value.replace(/\.[0-9a-f]{16}$/, '.hex')
    return value.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/, uid => this.#numbered('uid', uid))
  }

  #numbered(key: string, value: string): string {
    const name = this.#names.get(value) ?? `${key} ${this.#names.size + 1}`
    this.#names.set(value, name)
    return name
  }
}

interface Recorded {
  readonly events: unknown
  readonly core: unknown
}

/** The events of a Pod, by both APIs, oldest first. */
async function eventsOf(
  client: Client,
  name: string,
  isEnough: (events: readonly Event[]) => boolean,
): Promise<Recorded> {
  const deadline = performance.now() + 15_000
  for (;;) {
    const { items } = await client.list(Event, { namespace })
    const reported = items.filter(({ regarding }) => regarding?.name === name).sort(byName)
    if (performance.now() < deadline && !isEnough(reported)) {
      await sleep(100)
      continue
    }
    const { items: all } = await client.list(CoreEvent, { namespace })
    const core = all.filter(({ involvedObject }) => involvedObject.name === name).sort(byName)
    const mask = new Mask()
    return {
      events: reported.map(each => withoutMeta(each, mask)),
      core: core.map(each => withoutMeta(each, mask)),
    }
  }
}

const byName = (a: ApiObject, b: ApiObject) => (a.metadata.name < b.metadata.name ? -1 : 1)

function withoutMeta({ metadata, ...rest }: ApiObject, mask: Mask): unknown {
  return mask.of({ metadata: { name: metadata.name, namespace: metadata.namespace }, ...rest })
}

async function waitFor(client: Client, name: string, is: (pod: Pod | undefined) => boolean): Promise<void> {
  const deadline = performance.now() + 15_000
  while (!is(await client.get(Pod, { namespace, name }))) {
    assert.ok(performance.now() < deadline, `${name} is not as it should be`)
    await sleep(50)
  }
}

const isPromised = (found: Pod | undefined) => found?.status?.nominatedNodeName !== undefined
const isOn = (name: string) => (found: Pod | undefined) => found?.spec.nodeName === name
const isRefused = (found: Pod | undefined) => found?.status?.conditions?.[0]?.status === 'False'

describe('events of the scheduler beside those of the real one', () => {
  const stack = new AsyncDisposableStack()
  let sides: readonly [real: Side, ours: Side]
  before(async () => {
    sides = [await startReal(stack), await startOurs(stack)]
    for (const { client } of sides) await create(client, node('n1', { cpu: '2' }))
    await sleep(300)
  })
  after(() => stack.disposeAsync())

  /** Does it on both sides and returns the events of a Pod. */
  const compare = async (act: (side: Side) => Promise<Recorded>) => {
    const [real, ours] = await Promise.all(sides.map(act))
    assert.deepEqual(ours, real)
    return real!
  }
  const make = async ({ client }: Side, ...given: readonly Given[]) => {
    for (const each of given) await create(client, each)
  }

  it('tells that a pod has a node', async () => {
    const reported = await compare(async side => {
      await make(side, pod('a', { cpu: '500m' }))
      await waitFor(side.client, 'a', isOn('n1'))
      return await eventsOf(side.client, 'a', events => events.length === 1)
    })
    const [event] = reported.events as Event[]
    assert.equal(event?.action, 'Binding')
    assert.equal(event?.reportingInstance, `default-scheduler-${hostname()}`)
  })

  it('tells that a pod has none, and makes a series of what repeats', async () => {
    const reported = await compare(async side => {
      const small = ['x1', 'x2', 'x3'].map(name => pod(name, { cpu: '100m' }))
      await make(side, ...small)
      for (const [, { metadata }] of small) await waitFor(side.client, metadata.name, isOn('n1'))
      await make(side, pod('b', { cpu: '3' }))
      await waitFor(side.client, 'b', isRefused)
      for (const [, { metadata }] of small) {
        const before = await side.countTries()
        await side.client.delete(Pod, { namespace, name: metadata.name }, { gracePeriodSeconds: 0 })
        const deadline = performance.now() + 12_000
        while ((await side.countTries()) === before && performance.now() < deadline) await sleep(50)
        await sleep(200)
      }
      const end = await eventsOf(side.client, 'b', events => events.at(-1)?.series !== undefined)
      await side.client.delete(Pod, { namespace, name: 'b' }, { gracePeriodSeconds: 0 })
      return end
    })
    assert.deepEqual(
      (reported.events as Event[]).map(({ action, series }) => [action, series?.count]),
      [
        ['Scheduling', undefined],
        ['Scheduling', 2],
      ],
    )
  })

  it('records which Pod was preempted for which', async () => {
    const reported = await compare(async side => {
      await make(side, pod('v', { cpu: '1' }))
      await waitFor(side.client, 'v', isOn('n1'))
      await make(side, pod('c', { cpu: '1500m', priorityClassName: 'high' }))
      await waitFor(side.client, 'c', isOn('n1'))
      return await eventsOf(side.client, 'v', events => events.length === 2)
    })
    const preempted = (reported.events as Event[]).find(({ reason }) => reason === 'Preempted')
    assert.equal(preempted?.action, 'Preempting')
    assert.match(preempted?.note ?? '', /^Preempted by pod uid \d on node n1$/)
  })

  it('tells that a pod which waits for its volume is called back', async () => {
    const reported = await compare(async side => {
      const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
      await make(
        side,
        [
          StorageClass,
          { metadata: { name: 'late' }, provisioner: 'x.com/y', volumeBindingMode: 'WaitForFirstConsumer' },
        ],
        [
          PersistentVolumeClaim,
          { metadata: { name: 'v', namespace }, spec: { ...spec, storageClassName: 'late' } },
        ],
        node('n2', { cpu: '1' }),
      )
      await sleep(300)
      const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'v' } }]
      const nodeSelector = { 'kubernetes.io/hostname': 'n2' }
      await make(side, pod('w', { nodeSelector, volumes }))
      await waitFor(side.client, 'w', isPromised)
      await sleep(300)
      await make(side, pod('d', { nodeSelector, priorityClassName: 'high' }))
      await waitFor(side.client, 'd', isOn('n2'))
      return await eventsOf(side.client, 'w', events =>
        events.some(({ note }) => note?.includes('Insufficient')),
      )
    })
    const notes = (reported.events as Event[]).map(({ note = '' }) => note)
    assert.match(notes[0] ?? '', /^Preempted by pod .* on node n2 \(in kube-scheduler memory\)\.$/)
    assert.equal(notes[1], 'running PreBind plugin "VolumeBinding": preempted by DefaultPreemption')
  })

  it('tells of a pod that goes before it was scheduled', async () => {
    const reported = await compare(async side => {
      const [kind, given] = pod('g', { schedulingGates: [{ name: 'example.com/gate' }] })
      const metadata = { ...given.metadata, finalizers: ['example.com/keep'] }
      await make(side, [kind, { ...given, metadata }])
      await side.client.delete(Pod, { namespace, name: 'g' }, { gracePeriodSeconds: 0 })
      await side.client.patch(
        Pod,
        { namespace, name: 'g' },
        { spec: { schedulingGates: null } },
        { type: 'merge' },
      )
      return await eventsOf(side.client, 'g', events => events.length > 0)
    })
    assert.equal((reported.events as Event[])[0]?.note, 'skip schedule deleting pod: default/g')
  })
})
