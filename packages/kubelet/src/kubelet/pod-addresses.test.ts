import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { PodAddresses } from './pod-addresses.ts'

const create = (podCIDRs: Record<string, string> = {}) =>
  new PodAddresses(['node-1', 'node-2'], node => podCIDRs[node])

describe('the addresses of pods', () => {
  it("come from their node's range, one for each pod, and do not change", () => {
    const addresses = create({ 'node-2': '192.168.4.0/24' })
    assert.equal(addresses.take('a', 'node-1'), '10.128.0.2')
    assert.equal(addresses.take('b', 'node-1'), '10.128.0.3')
    assert.equal(addresses.take('a', 'node-1'), '10.128.0.2')
    assert.equal(addresses.take('c', 'node-2'), '192.168.4.2')
  })

  it('are reused only after all others', () => {
    const addresses = create({ 'node-1': '10.0.0.0/29' })
    const take = (...uids: string[]) => uids.map(uid => addresses.take(uid, 'node-1'))
    assert.deepEqual(take('a', 'b'), ['10.0.0.2', '10.0.0.3'])
    addresses.release('a')
    assert.deepEqual(take('c', 'd', 'e', 'f'), ['10.0.0.4', '10.0.0.5', '10.0.0.6', '10.0.0.2'])
    assert.deepEqual(take('g'), ['10.192.0.2'], 'the range is full')
    addresses.release('unknown')
  })

  it('stay with a pod that had one, unless another pod has it now', () => {
    const addresses = create()
    assert.equal(addresses.take('a', 'node-1', '10.128.0.7'), '10.128.0.7')
    assert.equal(addresses.take('b', 'node-1', '10.128.0.7'), '10.128.0.2')
    assert.equal(addresses.take('c', 'node-1', 'fd00::1'), '10.128.0.3')
  })
})
