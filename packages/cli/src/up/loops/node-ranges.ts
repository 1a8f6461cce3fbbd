import { type CIDR, parseCIDR } from '@coxswain/apimachinery/validation'
import type { NodeIpamOptions } from '@coxswain/controllers'
import { CommandError } from '../../exit.ts'
import type { ControllerFlags } from '../options/controller-options.ts'

const defaultRange = '10.244.0.0/16'

/** The pod CIDRs of nodes from flags; undefined when none are allocated. */
export function nodeRangesOf(
  flags: ControllerFlags & { readonly serviceClusterIpRange: string },
): Required<NodeIpamOptions> | undefined {
  if (!flags.allocateNodeCidrs) return undefined
  const clusterCIDRs = parse(flags.clusterCidr ?? defaultRange)
  const families = new Set(clusterCIDRs.map(isV4))
  if (clusterCIDRs.length === 0 || families.size !== clusterCIDRs.length)
    throw refuse(
      '--cluster-cidr must be a CIDR such as 10.244.0.0/16, or one of each family separated by a comma',
    )
  const isDual = clusterCIDRs.length > 1
  const { nodeCidrMaskSize: one, nodeCidrMaskSizeIpv4: v4, nodeCidrMaskSizeIpv6: v6 } = flags
  if (one !== undefined && (isDual || v4 !== undefined || v6 !== undefined))
    throw refuse(
      '--node-cidr-mask-size applies to one family; with two, use --node-cidr-mask-size-ipv4 and -ipv6',
    )
  if (!isDual && (families.has(true) ? v6 : v4) !== undefined)
    throw refuse('--node-cidr-mask-size-ipv4 and -ipv6 only apply to families that --cluster-cidr has')
  const nodeMaskSizes = clusterCIDRs.map(range => one ?? (isV4(range) ? (v4 ?? 24) : (v6 ?? 64)))
  clusterCIDRs.forEach((range, index) => {
    const size = nodeMaskSizes[index] ?? 0
    const most = isV4(range) ? 32 : Math.min(128, range.prefix + 16)
    if (size < range.prefix || size > most)
      throw refuse(`nodes cannot have /${size} of a --cluster-cidr with /${range.prefix}`)
  })
  return { clusterCIDRs, nodeMaskSizes, serviceCIDRs: parse(flags.serviceClusterIpRange) }
}

const isV4 = ({ address }: CIDR) => address.bytes.length === 4

/** Empty when one of them is invalid. */
function parse(list: string): CIDR[] {
  const ranges = list.split(',').map(text => parseCIDR(text.trim()))
  return ranges.includes(undefined) ? [] : (ranges as CIDR[])
}

function refuse(message: string): CommandError {
  return new CommandError(message, { exitCode: 2 })
}
