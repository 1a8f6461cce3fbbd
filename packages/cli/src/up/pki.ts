import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Env } from '@coxswain/kit'
import { createCertificate, type KeyPair, readCertificate } from '@coxswain/wire/node'

/** Everything the server and its administrator prove themselves with. */
export interface Pki {
  readonly ca: KeyPair
  readonly server: KeyPair
  readonly admin: KeyPair
}

const year = 365 * 24 * 3_600_000
/** A certificate that ends sooner than this is made anew at start. */
const renewBefore = year / 12
/** Clocks of clients may be behind. */
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

/** Reads the certificates in `directory`, making those that are missing or about to end. */
export function ensurePki(directory: string, env: Env): Pki {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const ca = ensure(directory, 'ca', env, 10 * year, { commonName: 'coxswain-ca' }, ['ca'])
  const server = ensure(directory, 'apiserver', env, year, { commonName: 'kube-apiserver' }, ['server'], ca)
  const subject = { commonName: 'kubernetes-admin', organizations: ['system:masters'] }
  const admin = ensure(directory, 'admin', env, year, subject, ['client'], ca)
  return { ca, server, admin }
}

function ensure(
  directory: string,
  name: string,
  { clock, random }: Env,
  lifetime: number,
  subject: { readonly commonName: string; readonly organizations?: readonly string[] },
  usages: readonly ('ca' | 'server' | 'client')[],
  issuer?: KeyPair,
): KeyPair {
  const certificateFile = join(directory, `${name}.crt`)
  const keyFile = join(directory, `${name}.key`)
  const existing = read(certificateFile, keyFile)
  if (existing && readCertificate(existing.certificate).notAfter - clock.now() > renewBefore) return existing
  const template = {
    subject,
    usages,
    notBefore: clock.now() - backdate,
    notAfter: clock.now() + lifetime,
    ...(usages.includes('server') && { hosts: serverHosts }),
  }
  const made = createCertificate(template, random, issuer)
  writeFileSync(keyFile, made.key, { mode: 0o600 })
  writeFileSync(certificateFile, made.certificate)
  return made
}

function read(certificateFile: string, keyFile: string): KeyPair | undefined {
  try {
    return { certificate: readFileSync(certificateFile, 'utf8'), key: readFileSync(keyFile, 'utf8') }
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return undefined
    throw error
  }
}
