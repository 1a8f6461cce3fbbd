import type { Service } from '@coxswain/api/core/v1'
import type { FieldError } from '@coxswain/apimachinery/field'
import * as field from '@coxswain/apimachinery/field'
import { newInvalid } from '@coxswain/apimachinery/status'
import { ipFamilyOf } from '@coxswain/kinds'
import type { Decoded } from '../../decoded.ts'
import { isIPv6, legacyIP } from '../../networking/addresses.ts'
import type { Findings } from '../../shared/reading.ts'
import {
  clusterIPsOf,
  familiesOf,
  hasSelector,
  isExternalName,
  isHeadless,
  isSameList,
  noAddress,
  type ServiceSpec,
  specOf,
} from './spec.ts'

const families = ['IPv4', 'IPv6']
const policies = ['PreferDualStack', 'RequireDualStack', 'SingleStack']
const specPath = field.Path.of('spec')
const ipsPath = specPath.child('clusterIPs')
const familiesPath = specPath.child('ipFamilies')
const policyPath = specPath.child('ipFamilyPolicy')

const otherFamily = (family: string): string => (family === 'IPv4' ? 'IPv6' : 'IPv4')

/** Both prefer two families and nothing about addresses changes: what the cluster can do today does not matter. */
export function isSettled(spec: ServiceSpec, old: ServiceSpec | undefined): boolean {
  if (!old || old.type !== spec.type || isExternalName(spec)) return false
  if (spec.ipFamilyPolicy !== 'PreferDualStack') return false
  if (old.ipFamilyPolicy !== undefined && old.ipFamilyPolicy !== 'PreferDualStack') return false
  return isSameList(spec.clusterIPs, old.clusterIPs) && isSameList(spec.ipFamilies, old.ipFamilies)
}

/**
 * Fills in `ipFamilies` and `ipFamilyPolicy` by what the author gave and what the cluster has. Throws a 422 when they do
 * not fit together.
 */
export function initFamilies(
  service: Decoded<Service>,
  oldService: Decoded<Service> | undefined,
  available: readonly string[],
): void {
  const spec = specOf(service)
  const old = oldService && specOf(oldService)
  if (isExternalName(spec) || isSettled(spec, old)) return
  const isFree = spec.clusterIP === noAddress && !hasSelector(spec)
  spec.ipFamilyPolicy ??= old?.ipFamilyPolicy ?? (isFree ? 'RequireDualStack' : 'SingleStack')
  const fail = (errors: readonly FieldError[]) => {
    if (errors.length === 0) return
    const { name = '' } = service.metadata as { name?: string }
    throw newInvalid({ group: '', kind: 'Service' }, name, errors)
  }
  fail([...validateClusterIPs(spec, old)])
  fail([...reconcilePolicy(spec, old), ...inferFamilies(spec, available)])
  if (isFree) {
    if (familiesOf(spec).length === 0) spec.ipFamilies = [available[0]!]
    const [first] = familiesOf(spec)
    if (familiesOf(spec).length < 2 && spec.ipFamilyPolicy !== 'SingleStack')
      spec.ipFamilies = [first!, otherFamily(first!)]
    return
  }
  fail([...validateAvailable(spec, available)])
  if (familiesOf(spec).length === 0) spec.ipFamilies = [available[0]!]
  const [first] = familiesOf(spec)
  if (spec.ipFamilyPolicy !== 'SingleStack' && familiesOf(spec).length === 1 && available.length === 2)
    spec.ipFamilies = [first!, otherFamily(first!)]
}

function* reconcilePolicy(spec: ServiceSpec, old: ServiceSpec | undefined): Findings {
  const policy = spec.ipFamilyPolicy
  if (old && policy === 'SingleStack') {
    if (isSameList(spec.clusterIPs, old.clusterIPs) && clusterIPsOf(spec).length > 1)
      spec.clusterIPs = clusterIPsOf(spec).slice(0, 1)
    if (isSameList(spec.ipFamilies, old.ipFamilies) && familiesOf(spec).length > 1)
      spec.ipFamilies = familiesOf(spec).slice(0, 1)
  } else if (old) {
    const isReduced = (now: string[], before: string[]) => now.length > 0 && now.length < before.length
    if (isReduced(clusterIPsOf(spec), clusterIPsOf(old)))
      yield field.invalid(policyPath, policy, "must be 'SingleStack' to release the secondary cluster IP")
    if (isReduced(familiesOf(spec), familiesOf(old)))
      yield field.invalid(policyPath, policy, "must be 'SingleStack' to release the secondary IP family")
  }
  if (policy !== 'SingleStack') return
  const several = "must be 'RequireDualStack' or 'PreferDualStack' when multiple"
  if (clusterIPsOf(spec).length === 2)
    yield field.invalid(policyPath, policy, `${several} cluster IPs are specified`)
  if (familiesOf(spec).length === 2)
    yield field.invalid(policyPath, policy, `${several} IP families are specified`)
}

/** An address says its family where none is given. */
function* inferFamilies(spec: ServiceSpec, available: readonly string[]): Findings {
  for (const [index, ip] of clusterIPsOf(spec).entries()) {
    if (ip === noAddress) return
    if (index < familiesOf(spec).length) continue
    const family = ipFamilyOf(ip)
    if (available.includes(family)) {
      spec.ipFamilies ??= []
      spec.ipFamilies.push(family)
    } else {
      const message = `${family} is not configured on this cluster`
      yield field.invalid(ipsPath.index(index), spec.clusterIPs, message)
    }
  }
}

function* validateAvailable(spec: ServiceSpec, available: readonly string[]): Findings {
  if (spec.ipFamilyPolicy === 'RequireDualStack' && available.length < 2) {
    const message = 'this cluster is not configured for dual-stack services'
    yield field.invalid(policyPath, spec.ipFamilyPolicy, message)
  }
  for (const [index, family] of familiesOf(spec).entries())
    if (!available.includes(family))
      yield field.invalid(familiesPath.index(index), family, 'not configured on this cluster')
}

/** Whether addresses, families and policy fit together. */
export function* validateClusterIPs(spec: ServiceSpec, old: ServiceSpec | undefined): Findings {
  if (isExternalName(spec)) return
  const ips = clusterIPsOf(spec)
  const clusterIP = spec.clusterIP ?? ''
  if (clusterIP === '') {
    if (ips.length > 0) yield field.invalid(ipsPath, ips, 'must be empty when `clusterIP` is not specified')
  } else if (ips.length === 0) yield field.required(ipsPath)
  else if (ips[0] !== clusterIP) yield field.invalid(ipsPath, ips, 'first value must match `clusterIP`')

  const seen = new Set<string>()
  for (const [index, family] of familiesOf(spec).entries()) {
    if (!families.includes(family)) yield field.notSupported(familiesPath.index(index), family, families)
    if (seen.has(family)) yield field.duplicate(familiesPath.index(index), family)
    seen.add(family)
  }
  if (spec.ipFamilyPolicy !== undefined && !policies.includes(spec.ipFamilyPolicy))
    yield field.notSupported(policyPath, spec.ipFamilyPolicy, policies)

  const validOld = new Set(clusterIPsOf(old ?? {}))
  let hasInvalid = false
  for (const [index, ip] of ips.entries()) {
    if (index === 0 && ip === noAddress) {
      if (ips.length === 1) continue
      hasInvalid = true
      yield field.invalid(ipsPath, ips, "'None' must be the first and only value")
      continue
    }
    const errors = legacyIP(ipsPath.index(index), ip, validOld)
    hasInvalid ||= errors.length > 0
    yield* errors
  }
  if (ips.length > 2) yield field.invalid(ipsPath, ips, 'may only hold up to 2 values')
  if (hasInvalid) return
  if (ips.length > 1 && new Set(ips.map(isIPv6)).size < 2)
    yield field.invalid(ipsPath, ips, 'may specify no more than one IP for each IP family')
  if (!isHeadless(spec)) yield* validateFamilyOfIPs(spec)
}

function* validateFamilyOfIPs(spec: ServiceSpec): Findings {
  for (const [index, ip] of clusterIPsOf(spec).entries()) {
    const family = familiesOf(spec)[index]
    if (family === undefined || !families.includes(family) || isIPv6(ip) === (family === 'IPv6')) continue
    const message = `expected an ${family} value as indicated by \`ipFamilies[${index}]\``
    yield field.invalid(ipsPath.index(index), ip, message)
  }
}

/** Addresses stay; one of a second family may come and go. */
export function* validateClusterIPsChange(spec: ServiceSpec, old: ServiceSpec): Findings {
  if (isExternalName(spec) || isExternalName(old) || (isHeadless(spec) && isHeadless(old))) return
  const ips = clusterIPsOf(spec)
  const before = clusterIPsOf(old)
  const changed = (index: number) => field.invalid(ipsPath.index(index), ips, 'may not change once set')
  if (ips.length === before.length) {
    for (const [index, ip] of before.entries()) if (ip !== ips[index]) yield changed(index)
    return
  }
  if (ips.length === 0) yield field.invalid(ipsPath.index(0), ips, 'primary clusterIP can not be unset')
  if (before.length > 0 && ips.length > 0 && ips[0] !== before[0]) yield changed(0)
  if (ips.length === 1 && before.length > 1 && spec.ipFamilyPolicy !== 'SingleStack') {
    const message = "must be set to 'SingleStack' when releasing the secondary clusterIP"
    yield field.invalid(policyPath, spec.ipFamilyPolicy ?? null, message)
  }
}

export function* validateFamiliesChange(spec: ServiceSpec, old: ServiceSpec): Findings {
  if (isExternalName(spec) || isExternalName(old) || isHeadless(spec) || isHeadless(old)) return
  const now = familiesOf(spec)
  const before = familiesOf(old)
  const path = familiesPath.index(0)
  if (now.length === before.length) {
    for (const [index, family] of before.entries())
      if (family !== now[index]) yield field.invalid(path, now, 'may not change once set')
    return
  }
  if (now.length < before.length && clusterIPsOf(spec).length === 0)
    yield field.invalid(path, now, 'primary ipFamily can not be unset')
  if (now.length > 0 && before.length > 0 && now[0] !== before[0])
    yield field.invalid(path, clusterIPsOf(spec), 'may not change once set')
  if (now.length === 1 && before.length > 1 && spec.ipFamilyPolicy !== 'SingleStack') {
    const message = "must be set to 'SingleStack' when releasing the secondary ipFamily"
    yield field.invalid(policyPath, spec.ipFamilyPolicy ?? null, message)
  }
}
