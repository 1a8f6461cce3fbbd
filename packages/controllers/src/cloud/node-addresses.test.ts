import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { NodeView } from '@coxswain/kinds'
import { desiredAddresses } from './node-addresses.ts'
import type { AddressView } from './provider.ts'

const address = (type: string, text: string) => ({ type, address: text }) as AddressView
const node = (provided?: string) =>
  ({
    metadata: {
      name: 'n',
      annotations: provided ? { 'alpha.kubernetes.io/provided-node-ip': provided } : {},
    },
    status: { addresses: [address('Hostname', 'n'), address('InternalIP', '1.1.1.1')] },
  }) as unknown as NodeView
const cloud = [
  address('InternalIP', '10.0.0.1'),
  address('InternalIP', '10.0.0.2'),
  address('ExternalIP', '192.0.2.1'),
]

describe('addresses of a node', () => {
  it('are those of its cloud, and its own host name', () => {
    assert.deepEqual(desiredAddresses(node(), cloud), [...cloud, address('Hostname', 'n')])
    const named = [...cloud, address('Hostname', 'other')]
    assert.deepEqual(desiredAddresses(node(), named), named)
  })

  it("include only the node's own address of each of its types", () => {
    assert.deepEqual(desiredAddresses(node('10.0.0.2'), cloud), [
      address('InternalIP', '10.0.0.2'),
      address('ExternalIP', '192.0.2.1'),
      address('Hostname', 'n'),
    ])
  })

  it("are rejected if the cloud does not know the node's own address", () => {
    assert.throws(() => desiredAddresses(node('10.9.9.9'), cloud), /matches ip: 10\.9\.9\.9/)
  })
})
