import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRealEnv } from '@coxswain/kit'
import { createCertificate } from '@coxswain/wire/node'
import type { Command } from 'commander'
import { resolveAddresses } from '../up/access/serving-addresses.ts'
import { askEtcd } from './ask-etcd.ts'
import { type Translation, translate } from './translate.ts'

/** Switches controllers, scheduler and one simulated node on. */
export const controlLoopsVariable = 'COXSWAIN_CONTROL_LOOPS'

const year = 365 * 24 * 3_600_000

/** What kube-apiserver does where its flags are silent, in the flags of `coxswain up`. */
const defaults = {
  'authorization-mode': 'AlwaysAllow',
  'bind-address': '0.0.0.0',
  'secure-port': '6443',
  'service-cluster-ip-range': '10.0.0.0/24',
}

/** Runs `coxswain up` as its command line says that kube-apiserver is to run. */
export async function runApiserver(args: readonly string[], program: Command): Promise<void> {
  const up = program.commands.find(command => command.name() === 'up')!
  const translation = translate(args, up)
  const { shared, ignored, given } = translation
  if (ignored.length > 0)
    process.stderr.write(
      `kube-apiserver: these flags have no effect on this server: ${ignored.map(name => `--${name}`).join(', ')}\n`,
    )
  const filled = Object.entries(defaults)
    .filter(
      ([name]) => !given.has(name) && !(name === 'authorization-mode' && given.has('authorization-config')),
    )
    .map(([name, value]) => `--${name}=${value}`)
  const store = await findStore(given)
  try {
    const loops =
      process.env[controlLoopsVariable] === 'true' ? ['--controllers=*', '--nodes=1'] : ['--controllers=none']
    await program.parseAsync([
      process.argv[0]!,
      process.argv[1]!,
      'up',
      ...store.flags,
      ...servingFiles(translation),
      ...filled,
      ...shared,
      ...loops,
    ])
  } finally {
    store.remove()
  }
}

interface FoundStore {
  readonly flags: readonly string[]
  /** Removes what only this run needed. */
  remove(): void
}

/** The store of the etcd stand-in that the flags lead to, or a real etcd. */
async function findStore(given: ReadonlyMap<string, string>): Promise<FoundStore> {
  const servers = given.get('etcd-servers')
  const standIn = servers === undefined ? undefined : await askEtcd(servers)
  if (standIn)
    return {
      flags: [
        `--data-dir=${join(standIn.dataDir, 'coxswain')}`,
        '--storage=sqlite',
        ...(standIn.isUnsafeNoFsync ? ['--unsafe-no-fsync'] : []),
      ],
      remove() {},
    }
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-apiserver-'))
  return {
    flags: [
      `--data-dir=${join(folder, 'data')}`,
      ...(servers === undefined ? ['--storage=memory'] : [`--etcd-servers=${servers}`]),
    ],
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** The certificate that kube-apiserver would serve: that of the flags, or that of --cert-dir, which is made when it is missing. */
function servingFiles({ given }: Translation): string[] {
  const named = [given.get('tls-cert-file'), given.get('tls-private-key-file')]
  if (named.some(file => file !== undefined && file !== ''))
    return [`--tls-cert-file=${named[0] ?? ''}`, `--tls-private-key-file=${named[1] ?? ''}`]
  const folder = given.get('cert-dir') ?? '/var/run/kubernetes'
  const files = [join(folder, 'apiserver.crt'), join(folder, 'apiserver.key')] as const
  if (!files.every(file => existsSync(file))) makeCertificate(folder, files, given)
  return [`--tls-cert-file=${files[0]}`, `--tls-private-key-file=${files[1]}`]
}

function makeCertificate(
  folder: string,
  [certFile, keyFile]: readonly [string, string],
  given: ReadonlyMap<string, string>,
): void {
  const { clock, random } = createRealEnv()
  const { hosts } = resolveAddresses({
    port: 0,
    bindAddress: given.get('bind-address') ?? defaults['bind-address'],
  })
  const made = createCertificate(
    {
      subject: { commonName: hosts[0]! },
      usages: ['ca', 'server'],
      notBefore: clock.now() - 3_600_000,
      notAfter: clock.now() + year,
      hosts: [...new Set([...hosts, 'localhost', '127.0.0.1'])],
    },
    random,
  )
  mkdirSync(folder, { recursive: true })
  writeFileSync(keyFile, made.key, { mode: 0o600 })
  writeFileSync(certFile, made.certificate, { mode: 0o644 })
}
