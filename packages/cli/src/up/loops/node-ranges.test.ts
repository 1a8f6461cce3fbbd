import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { formatCIDR } from '@coxswain/apimachinery/validation'
import type { ControllerFlags } from '../options/controller-options.ts'
import { nodeRangesOf } from './node-ranges.ts'

const read = (flags: Partial<ControllerFlags>) =>
  nodeRangesOf({
    allocateNodeCidrs: true,
    serviceClusterIpRange: '10.96.0.0/12',
    ...flags,
  } as ControllerFlags & { readonly serviceClusterIpRange: string })

describe('the pod CIDRs of nodes', () => {
  it('are allocated only with --allocate-node-cidrs, by default as /24', () => {
    assert.equal(read({ allocateNodeCidrs: false }), undefined)
    const { clusterCIDRs, nodeMaskSizes, serviceCIDRs } = read({})!
    assert.deepEqual(clusterCIDRs.map(formatCIDR), ['10.244.0.0/16'])
    assert.deepEqual(nodeMaskSizes, [24])
    assert.deepEqual(serviceCIDRs.map(formatCIDR), ['10.96.0.0/12'])
  })

  it('have the requested mask size, by family', () => {
    assert.deepEqual(read({ nodeCidrMaskSize: 26 })?.nodeMaskSizes, [26])
    const dual = { clusterCidr: 'fd00:1::/56,10.0.0.0/16', nodeCidrMaskSizeIpv4: 25 }
    assert.deepEqual(read(dual)?.nodeMaskSizes, [64, 25])
  })

  const mistakes: readonly (readonly [string, Partial<ControllerFlags>, RegExp])[] = [
    ['an invalid range', { clusterCidr: 'x' }, /--cluster-cidr must be/],
    ['two ranges of one family', { clusterCidr: '10.0.0.0/16,10.1.0.0/16' }, /one of each family/],
    [
      'one size for two families',
      { clusterCidr: '10.0.0.0/16,fd00::/56', nodeCidrMaskSize: 24 },
      /applies to one family/,
    ],
    ['a mask size for a family without a range', { nodeCidrMaskSizeIpv6: 64 }, /that --cluster-cidr has/],
    ['node ranges that are larger than the whole', { nodeCidrMaskSize: 8 }, /cannot have \/8/],
    ['too many node ranges', { clusterCidr: 'fd00::/32' }, /cannot have \/64/],
  ]
  for (const [what, flags, message] of mistakes)
    it(`reject ${what}`, () => {
      assert.throws(() => read(flags), message)
    })
})
