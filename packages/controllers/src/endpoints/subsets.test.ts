import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { capacity, countAddresses, packSubsets, truncateSubsets } from './subsets.ts'

const addresses = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, index) => ({ ip: `${prefix}.${index >> 8}.${index & 255}` }))

describe('subsets', () => {
  it('contain an address once per port, and not ready wins over ready', () => {
    const port = { port: 80 }
    const address = { ip: '10.0.0.1' }
    const packed = packSubsets([
      { address, port, ready: true },
      { address: { ...address, hostname: 'other' }, port, ready: false },
      { address, port, ready: true },
    ])
    assert.deepEqual(packed, [{ notReadyAddresses: [address], ports: [port] }])
  })

  it('group ports with the same addresses, not addresses with the same ports', () => {
    const [http, other, dns] = [
      { name: 'http', port: 8080 },
      { name: 'http', port: 8081 },
      { name: 'dns', port: 53 },
    ]
    const [a, b] = [{ ip: '10.0.0.1' }, { ip: '10.0.0.2' }]
    const on = (address: { ip: string }, port: { port: number }) => ({ address, port, ready: true })
    assert.deepEqual(packSubsets([on(a, http), on(a, dns), on(b, other), on(b, dns)]), [
      { addresses: [a, b], ports: [dns] },
      { addresses: [a], ports: [http] },
      { addresses: [b], ports: [other] },
    ])
    assert.deepEqual(packSubsets([on(a, http), on(b, dns), on(b, http), on(a, dns)]), [
      { addresses: [a, b], ports: [dns, http] },
    ])
  })

  it('are truncated to a thousand addresses, those that are not ready first', () => {
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

  it('lose all addresses that are not ready, and a fair share of the others, if the ready ones alone are too many', () => {
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
