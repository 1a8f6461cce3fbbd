import type { HostAlias, PodSpec } from '@coxswain/api/core/v1'
import * as field from '@coxswain/apimachinery/field'
import { isDNS1123SubdomainWithUnderscore, isValidIPForLegacyField } from '@coxswain/apimachinery/validation'
import type { Decoded } from '../../../decoded.ts'
import { type Findings, invalidBecause, printed, validateDNSSubdomain } from '../../../shared/reading.ts'

const maxNameservers = 3
const maxSearches = 32
const maxSearchCharacters = 2048

export function* validateDnsConfig(spec: Decoded<PodSpec>, path: field.Path): Findings {
  const config = spec.dnsConfig
  if (spec.dnsPolicy === 'None') {
    if (!config) {
      yield field.required(path, 'must provide `dnsConfig` when `dnsPolicy` is None')
      return
    }
    if ((config.nameservers ?? []).length === 0) {
      const message = 'must provide at least one DNS nameserver when `dnsPolicy` is None'
      yield field.required(path.child('nameservers'), message)
      return
    }
  }
  if (!config) return
  const nameservers = config.nameservers ?? []
  const searches = config.searches ?? []
  if (nameservers.length > maxNameservers) {
    const message = `must not have more than ${maxNameservers} nameservers`
    yield field.invalid(path.child('nameservers'), printed(nameservers), message)
  }
  for (const [index, address] of nameservers.entries())
    yield* isValidIPForLegacyField(path.child('nameservers').index(index), address, { strict: true })
  const at = path.child('searches')
  if (searches.length > maxSearches)
    yield field.invalid(at, printed(searches), `must not have more than ${maxSearches} search paths`)
  if (searches.join(' ').length > maxSearchCharacters) {
    const message = `must not have more than ${maxSearchCharacters} characters (including spaces) in the search list`
    yield field.invalid(at, printed(searches), message)
  }
  for (const [index, search] of searches.entries()) {
    if (search === '.') continue
    const domain = search.endsWith('.') ? search.slice(0, -1) : search
    yield* invalidBecause(at.index(index), domain, isDNS1123SubdomainWithUnderscore(domain))
  }
  for (const [index, option] of (config.options ?? []).entries())
    if ((option.name ?? '') === '')
      yield field.required(path.child('options').index(index), 'must not be empty')
}

export function* validateHostAliases(aliases: readonly Decoded<HostAlias>[], path: field.Path): Findings {
  for (const [index, alias] of aliases.entries()) {
    const at = path.index(index)
    yield* isValidIPForLegacyField(at.child('ip'), alias.ip ?? '', { strict: true })
    for (const [position, hostname] of (alias.hostnames ?? []).entries())
      yield* validateDNSSubdomain(hostname, at.child('hostnames').index(position))
  }
}

const maxHostname = 64

export function* validateHostnameOverride(spec: Decoded<PodSpec>, path: field.Path): Findings {
  if (spec.hostnameOverride === undefined) return
  const name = spec.hostnameOverride ?? ''
  const at = path.child('hostnameOverride')
  if (spec.setHostnameAsFQDN === true)
    yield field.forbidden(at, 'may not be specified when setHostnameAsFQDN is true')
  if (spec.hostNetwork === true) yield field.forbidden(at, 'may not be specified when hostNetwork is true')
  if (name.length > maxHostname) yield field.tooLong(at, maxHostname)
  yield* validateDNSSubdomain(name, at)
}
