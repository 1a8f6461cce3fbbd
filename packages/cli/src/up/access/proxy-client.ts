import { CommandError } from '../../exit.ts'
import type { AuthenticationFlags } from '../options/authentication-options.ts'
import { readCertificates, readFlagFile, readPrivateKey } from '../options/flag-file.ts'
import type { FrontProxy } from './pki.ts'

type ProxyFlags = Pick<
  AuthenticationFlags,
  'proxyClientCertFile' | 'proxyClientKeyFile' | 'requestheaderClientCaFile'
>

/** PEM. */
interface ClientCertificate {
  readonly cert: string
  readonly key: string
}

/**
 * The certificate with which extension API servers recognize this server; undefined where they trust another CA than ours, and no flag
 * names a certificate of it. Throws a CommandError for files that cannot be read.
 */
export function readProxyClient(flags: ProxyFlags, { client }: FrontProxy): ClientCertificate | undefined {
  const { proxyClientCertFile: cert, proxyClientKeyFile: key } = flags
  if ((cert === undefined) !== (key === undefined)) {
    const message = '--proxy-client-cert-file and --proxy-client-key-file must be given together'
    throw new CommandError(message, { exitCode: 2 })
  }
  if (cert !== undefined && key !== undefined)
    return {
      cert: readFlagFile('proxy-client-cert-file', cert, readCertificates),
      key: readFlagFile('proxy-client-key-file', key, readPrivateKey),
    }
  if (flags.requestheaderClientCaFile !== undefined) return undefined
  return { cert: client.certificate, key: client.key }
}
