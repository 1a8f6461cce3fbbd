import type { Service } from '@coxswain/api/core/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'

/** A Service as caches and listers return it. */
export type ServiceView = DeepReadonly<Service>
/** The family of an IP address. */
export type IPFamily = 'IPv4' | 'IPv6'

/** The family of an address or CIDR. */
export function ipFamilyOf(address: string): IPFamily {
  return address.includes(':') ? 'IPv6' : 'IPv4'
}

/** Whether a Service has no cluster IP. */
export function isHeadless({ spec }: ServiceView): boolean {
  return !spec?.clusterIP || spec.clusterIP === 'None'
}

/** The families that a Service has endpoints of; both where that is not known. */
export function ipFamiliesOf({ spec }: ServiceView): readonly IPFamily[] {
  if (spec?.ipFamilies?.length) return spec.ipFamilies as readonly IPFamily[]
  if (spec?.clusterIP && spec.clusterIP !== 'None') return [ipFamilyOf(spec.clusterIP)]
  return ['IPv4', 'IPv6']
}
