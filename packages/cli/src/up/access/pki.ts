import { X509Certificate } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { formatIP, maskIP, parseCIDR } from '@coxswain/apimachinery/validation'
import type { Env } from '@coxswain/kit'
import { loopbackAddressOf } from '@coxswain/kubelet/host'
import { createCertificate, type KeyPair, readCertificate } from '@coxswain/wire/node'
import { CommandError } from '../../exit.ts'

/** The certificates of the server and its administrator. */
export interface Pki {
  readonly ca: KeyPair
  readonly server: KeyPair
  readonly admin: KeyPair
}

const year = 365 * 24 * 3_600_000
/** A certificate that expires sooner than this is renewed at start. */
const renewBefore = year / 12
/** The allowance for clients whose clocks are behind. */
const backdate = 3_600_000

const serverHosts = [
  '127.0.0.1',
  '::1',
  'localhost',
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
  'kubernetes.default.svc.cluster.local',
]

/** The first address of the range of Services, which is the API server's, and its loopback address on this machine. */
function serviceHosts(range: string): string[] {
  const cidr = parseCIDR(range.split(',')[0] ?? '')
  if (!cidr) return []
  const bytes = maskIP(cidr.address.bytes, cidr.prefix)
  bytes[bytes.length - 1]! += 1
  const address = formatIP(bytes)
  return [address, ...[loopbackAddressOf(address)].filter(host => host !== undefined)]
}

/** What the server is called. */
export interface ServerNames {
  /** Besides those that every API server has. */
  readonly hosts: readonly string[]
  /** CIDRs of Services: the first address is the API server's. */
  readonly serviceRange: string
}

/**
 * Reads the certificates in `directory`, making those that are missing, about to end, of another CA, or without one of the
 * server's names.
 */
export function ensurePki(directory: string, env: Env, { hosts: named, serviceRange }: ServerNames): Pki {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const ca = ensure(directory, env, {
    name: 'ca',
    lifetime: 10 * year,
    subject: { commonName: 'coxswain-ca' },
    usages: ['ca'],
  })
  const hosts = [...new Set([...serverHosts, ...serviceHosts(serviceRange), ...named])]
  const server = ensure(directory, env, {
    name: 'apiserver',
    subject: { commonName: 'kube-apiserver' },
    usages: ['server'],
    issuer: ca,
    hosts,
  })
  const subject = { commonName: 'kubernetes-admin', organizations: ['system:masters'] }
  const admin = ensure(directory, env, { name: 'admin', subject, usages: ['client'], issuer: ca })
  return { ca, server, admin }
}

/** The control plane components that may run separately, by the names of kubeadm's files. */
const components = {
  'controller-manager': 'system:kube-controller-manager',
  scheduler: 'system:kube-scheduler',
} as const

export type ComponentName = keyof typeof components

export const componentNames: readonly ComponentName[] = Object.keys(components) as ComponentName[]

/** The user and client certificate of a control plane component; RBAC's bootstrap roles have the user. */
export function ensureComponentCertificate(
  directory: string,
  env: Env,
  name: ComponentName,
  ca: KeyPair,
): { readonly user: string; readonly pair: KeyPair } {
  const user = components[name]
  const subject = { commonName: user }
  return { user, pair: ensure(directory, env, { name, subject, usages: ['client'], issuer: ca }) }
}

/** The client certificate of the API server for other kubelets. */
export function ensureKubeletClientCertificate(directory: string, env: Env, ca: KeyPair): KeyPair {
  const subject = { commonName: 'kube-apiserver-kubelet-client', organizations: ['system:masters'] }
  return ensure(directory, env, { name: 'apiserver-kubelet-client', subject, usages: ['client'], issuer: ca })
}

interface Wanted {
  /** The base name of its files. */
  readonly name: string
  readonly subject: { readonly commonName: string; readonly organizations?: readonly string[] }
  readonly usages: readonly ('ca' | 'server' | 'client')[]
  /** @default it signs itself */
  readonly issuer?: KeyPair
  /** Milliseconds. @default a year */
  readonly lifetime?: number
  /** The host names and addresses of a server. */
  readonly hosts?: readonly string[]
}

/** The API server as a front proxy of extension API servers: the CA that they trust, and its client certificate. */
export interface FrontProxy {
  /** PEM. */
  readonly ca: string
  readonly client: KeyPair
}

/** kubeadm's names. */
export function ensureFrontProxy(directory: string, env: Env): FrontProxy {
  const ca = ensure(directory, env, {
    name: 'front-proxy-ca',
    lifetime: 10 * year,
    subject: { commonName: 'front-proxy-ca' },
    usages: ['ca'],
  })
  const subject = { commonName: 'front-proxy-client' }
  const client = ensure(directory, env, {
    name: 'front-proxy-client',
    subject,
    usages: ['client'],
    issuer: ca,
  })
  return { ca: ca.certificate, client }
}

function ensure(directory: string, { clock, random }: Env, wanted: Wanted): KeyPair {
  const { name, subject, usages, issuer, lifetime = year, hosts = [] } = wanted
  const certificateFile = join(directory, `${name}.crt`)
  const keyFile = join(directory, `${name}.key`)
  const existing = read(certificateFile, keyFile)
  if (existing) {
    const known = readCertificate(existing.certificate)
    const isLasting = known.notAfter - clock.now() > renewBefore
    const isNamed = hosts.every(host => known.hosts.includes(host))
    if (isLasting && isNamed && (!issuer || isIssuedBy(issuer, existing))) return existing
  }
  const template = {
    subject,
    usages,
    notBefore: clock.now() - backdate,
    notAfter: clock.now() + lifetime,
    ...(hosts.length > 0 && { hosts }),
  }
  const made = createCertificate(template, random, issuer)
  writeFileSync(keyFile, made.key, { mode: 0o600 })
  writeFileSync(certificateFile, made.certificate, { mode: 0o600 })
  return made
}

function isIssuedBy(issuer: KeyPair, { certificate }: KeyPair): boolean {
  return new X509Certificate(certificate).verify(new X509Certificate(issuer.certificate).publicKey)
}

/** Undefined without a certificate. One whose key is kept elsewhere is never written over. */
function read(certificateFile: string, keyFile: string): KeyPair | undefined {
  const [certificate, key] = [readIfThere(certificateFile), readIfThere(keyFile)]
  // The key is written first: a start that was killed may have left it alone.
  if (certificate === undefined) return undefined
  if (key !== undefined) return { certificate, key }
  throw new CommandError(`${certificateFile} needs its key ${keyFile}, which does not exist`)
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return undefined
    throw error
  }
}
