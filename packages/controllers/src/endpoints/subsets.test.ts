import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { capacity, countAddresses, packSubsets, truncateSubsets } from './subsets.ts'

const addresses = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, index) => ({ ip: `${prefix}.${index >> 8}.${index & 255}` }))

describe('subsets', () => {
  it('say an address once on each port, and ready beats not ready', () => {
    const port = { port: 80 }
    const address = { ip: '10.0.0.1' }
    const packed = packSubsets([
      { address, port, ready: false },
      { address, port, ready: true },
      { address, port, ready: true },
    ])
    assert.deepEqual(packed, [{ addresses: [address], ports: [port] }])
  })

  it('are cut at a thousand addresses, those that are not ready first', () => {
    const cut = truncateSubsets([
      { addresses: addresses(600, '10.0'), notReadyAddresses: addresses(300, '10.1') },
      { addresses: addresses(300, '10.2'), notReadyAddresses: addresses(300, '10.3') },
    ])
    assert.equal(countAddresses(cut), capacity)
    assert.deepEqual(
      cut.map(subset => [subset.addresses?.length, subset.notReadyAddresses?.length]),
      [
        [600, 50],
        [300, 50],
      ],
    )
  })

  it('lose all that are not ready, and a fair share of the others, when the ready ones alone are too many', () => {
    const cut = truncateSubsets([
      { addresses: addresses(1_500, '10.0'), notReadyAddresses: addresses(3, '10.1') },
      { addresses: addresses(500, '10.2') },
    ])
    assert.deepEqual(
      cut.map(subset => [subset.addresses?.length, subset.notReadyAddresses?.length]),
      [
        [750, undefined],
        [250, undefined],
      ],
    )
  })
})
