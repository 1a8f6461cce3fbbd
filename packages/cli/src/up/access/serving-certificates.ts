import { statSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import type { Env } from '@coxswain/kit'
import { type NamedCertificate, readCertificate, type ServerTls } from '@coxswain/wire/node'
import { CommandError } from '../../exit.ts'
import { readCertificates, readFlagFile, readPrivateKey } from '../options/flag-file.ts'
import type { ServingFlags } from '../options/serving-options.ts'
import type { Pki } from './pki.ts'
import { loopbackServerName } from './serving-addresses.ts'

/** How often certificate files are checked for changes; upstream's. */
const reloadPeriod = 60_000

/** What the server proves itself with. */
export interface ServingCertificates {
  readonly tls: ServerTls
  /** PEM of what clients in Pods trust: the CA, and the certificates of --tls-cert-file. */
  readonly rootCa: string
  /** The name that clients with a generated kubeconfig ask for; undefined where they get the generated certificate anyway. */
  readonly serverName: string | undefined
  /** Passes on certificates whose files have changed until the signal aborts; undefined where no flag names any. */
  readonly reload?: (use: (tls: ServerTls) => void, signal: AbortSignal) => Promise<void>
}

/** The certificates that the flags name, and the generated one. Throws for files that cannot be read or are not a pair. */
export function loadServingCertificates(
  flags: ServingFlags,
  { ca, server }: Pick<Pki, 'ca' | 'server'>,
  { clientCa, env }: { readonly clientCa: string; readonly env: Env },
): ServingCertificates {
  const { tlsCertFile: certFile, tlsPrivateKeyFile: keyFile, tlsSniCertKey: sni = [] } = flags
  const generated = { cert: server.certificate, key: server.key }
  if (certFile === undefined && sni.length === 0)
    return { tls: { ...generated, clientCa }, rootCa: ca.certificate, serverName: undefined }
  const read = (): ServerTls => ({
    ...(certFile === undefined || keyFile === undefined
      ? generated
      : readPair(['tls-cert-file', certFile], ['tls-private-key-file', keyFile])),
    clientCa,
    named: [{ names: [loopbackServerName], ...generated }, ...readNamed(sni)],
  })
  const files = [certFile, keyFile, ...sni.flatMap(pair => [pair.certFile, pair.keyFile])]
  const stampOf = () => files.map(file => file && statSync(file, { throwIfNoEntry: false })?.mtimeMs).join()
  let known = stampOf()
  const tls = read()
  return {
    tls,
    rootCa: certFile === undefined ? ca.certificate : `${ca.certificate.trimEnd()}\n${tls.cert}`,
    serverName: loopbackServerName,
    async reload(use, signal) {
      for (;;) {
        await env.clock.sleep(reloadPeriod, { signal })
        try {
          const stamp = stampOf()
          if (stamp === known) continue
          use(read())
          known = stamp
          env.log.info('the serving certificates were read again')
        } catch (error) {
          env.log.error('the serving certificates stay as they were', { error })
        }
      }
    },
  }
}

type FlagFile = readonly [flag: string, file: string]

function readPair(certFile: FlagFile, keyFile: FlagFile): { readonly cert: string; readonly key: string } {
  const cert = readFlagFile(...certFile, readCertificates)
  const key = readFlagFile(...keyFile, readPrivateKey)
  try {
    createSecureContext({ cert, key })
  } catch (error) {
    throw new CommandError(
      `--${certFile[0]} ${certFile[1]}: is not a certificate of the key ${keyFile[1]}: ${(error as Error).message}`,
      { cause: error },
    )
  }
  return { cert, key }
}

/** Names that a flag gives count before those that a certificate has, as upstream does. */
function readNamed(sni: NonNullable<ServingFlags['tlsSniCertKey']>): NamedCertificate[] {
  const flag = 'tls-sni-cert-key'
  const read = sni.map(({ certFile, keyFile, names }) => ({
    names,
    ...readPair([flag, certFile], [flag, keyFile]),
  }))
  const given = read.filter(({ names }) => names.length > 0)
  const implied = read
    .filter(({ names }) => names.length === 0)
    .map(pair => ({ ...pair, names: readNames(pair.cert) }))
  return [...given, ...implied]
}

function readNames(pem: string): readonly string[] {
  const [first = ''] = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/.exec(pem) ?? []
  const { hosts, commonName } = readCertificate(first)
  return hosts.length > 0 ? hosts : [commonName]
}
