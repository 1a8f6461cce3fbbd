import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { VirtualWorld } from '@coxswain/kit'
import { Balancer } from './balancer.ts'
import type { ProxyEndpoint } from './proxy-rules.ts'

const endpoint = (id: string): ProxyEndpoint => ({ id, hosts: [id], port: 80, isLocal: false })
const three = ['a', 'b', 'c'].map(endpoint)
const minute = 60_000

function connect(balancer: Balancer, client: string, endpoints = three, affinity?: number): string {
  const [first] = balancer.order(endpoints, client, affinity)
  if (affinity !== undefined) balancer.remember(client, first!, affinity)
  return first!.id
}

describe('a balancer', () => {
  it('takes endpoints in turn, and names all of them for each connection', () => {
    const balancer = new Balancer(new VirtualWorld({ seed: 1 }).clock)
    const orders = [1, 2, 3, 4].map(() =>
      balancer
        .order(three, 'x')
        .map(({ id }) => id)
        .join(''),
    )
    assert.deepEqual(orders, ['abc', 'bca', 'cab', 'abc'])
    assert.deepEqual(balancer.order([], 'x'), [])
  })

  it('keeps a client on its endpoint until its affinity times out', async () => {
    const world = new VirtualWorld({ seed: 1 })
    const balancer = new Balancer(world.clock)
    const own = connect(balancer, 'x', three, minute)
    assert.notEqual(connect(balancer, 'y', three, minute), own)
    for (let round = 0; round < 5; round++) {
      await world.advance(minute - 1)
      assert.equal(connect(balancer, 'x', three, minute), own)
    }
    await world.advance(minute)
    assert.notEqual(connect(balancer, 'x', three, minute), own)
  })

  it('gives a client another endpoint when its own is removed', () => {
    const balancer = new Balancer(new VirtualWorld({ seed: 1 }).clock)
    const own = connect(balancer, 'x', three, minute)
    const others = three.filter(({ id }) => id !== own)
    const next = connect(balancer, 'x', others, minute)
    assert.equal(connect(balancer, 'x', three, minute), next)
  })

  it('remembers ten thousand clients and no more', () => {
    const balancer = new Balancer(new VirtualWorld({ seed: 1 }).clock)
    balancer.remember('first', three[2]!, minute)
    for (let client = 0; client < 10_000; client++) balancer.remember(String(client), three[1]!, minute)
    assert.equal(balancer.order(three, 'first', minute)[0]?.id, 'a')
    assert.equal(balancer.order(three, '0', minute)[0]?.id, 'b')
  })
})
