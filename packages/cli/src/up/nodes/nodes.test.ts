import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { dnsAddressIn } from './nodes.ts'

describe('the address of the DNS server', () => {
  it('is the tenth of the range of Services, as with kubeadm', () => {
    assert.equal(dnsAddressIn('10.96.0.0/12'), '10.96.0.10')
    assert.equal(dnsAddressIn('10.200.3.77/24'), '10.200.3.10')
    assert.equal(dnsAddressIn('10.96.0.16/28,fd00::/108'), '10.96.0.26')
  })

  it('is undefined in a range without a tenth address, and for IPv6', () => {
    assert.equal(dnsAddressIn('10.96.0.0/29'), undefined)
    assert.equal(dnsAddressIn('fd00::/108'), undefined)
    assert.equal(dnsAddressIn('nonsense'), undefined)
  })
})
