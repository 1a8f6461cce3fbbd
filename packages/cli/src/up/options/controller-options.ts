import { type Command, InvalidArgumentError, Option } from 'commander'
import { checkDuration } from './authentication-options.ts'

/** The controller flags of `coxswain up`; the names are kube-controller-manager's. */
export interface ControllerFlags {
  readonly leaderElect: 'true' | 'false'
  readonly leaderElectLeaseDuration: string
  readonly leaderElectRenewDeadline: string
  readonly leaderElectRetryPeriod: string
  readonly cloudProvider: 'local' | 'none'
  readonly allocateNodeCidrs: boolean
  readonly clusterCidr?: string
  readonly nodeCidrMaskSize?: number
  readonly nodeCidrMaskSizeIpv4?: number
  readonly nodeCidrMaskSizeIpv6?: number
}

export function addControllerOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--leader-elect <bool>',
        'run controllers and scheduler only while they hold their leases in kube-system',
      )
        .choices(['true', 'false'])
        .default('true'),
    )
    .addOption(
      period(
        'lease-duration',
        'how long candidates wait after the last renewal before they take over',
        '15s',
      ),
    )
    .addOption(period('renew-deadline', 'how long a leader tries to renew before it stops leading', '10s'))
    .addOption(period('retry-period', 'how long to wait between attempts', '2s'))
    .addOption(
      new Option(
        '--cloud-provider <name>',
        'the provider of load balancers; local gives them addresses of this machine',
      )
        .choices(['local', 'none'])
        .default('local'),
    )
    .option('--allocate-node-cidrs', 'allocate a pod CIDR to every node', false)
    .option(
      '--cluster-cidr <cidr>',
      'the range of pod CIDRs; one of each family separated by a comma (default: 10.244.0.0/16)',
    )
    .addOption(maskSize('node-cidr-mask-size', "mask size of a node's pod CIDR (default: 24, for IPv6 64)"))
    .addOption(maskSize('node-cidr-mask-size-ipv4', 'mask size for IPv4, with two families'))
    .addOption(maskSize('node-cidr-mask-size-ipv6', 'mask size for IPv6, with two families'))
}

function period(name: string, what: string, preset: string): Option {
  return new Option(`--leader-elect-${name} <duration>`, what).default(preset).argParser(checkDuration)
}

function maskSize(name: string, what: string): Option {
  return new Option(`--${name} <n>`, what).argParser(text => {
    if (/^\d{1,3}$/.test(text) && Number(text) > 0 && Number(text) <= 128) return Number(text)
    throw new InvalidArgumentError('must be a number from 1 to 128.')
  })
}
