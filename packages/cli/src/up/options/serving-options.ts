import { isIP } from 'node:net'
import { type Command, InvalidArgumentError, Option } from 'commander'

/** How the API server is reached; the names are kube-apiserver's. */
export interface ServingFlags {
  readonly port: number
  readonly securePort?: number
  readonly bindAddress: string
  readonly advertiseAddress?: string
  readonly certDir?: string
  readonly tlsCertFile?: string
  readonly tlsPrivateKeyFile?: string
  readonly tlsSniCertKey?: readonly SniCertKey[]
}

/** A pair of files for clients that ask for one of the names; without names, for those of the certificate. */
export interface SniCertKey {
  readonly certFile: string
  readonly keyFile: string
  readonly names: readonly string[]
}

export function addServingOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--port <n>', 'port to serve on; 0 picks a free one').default(6443).argParser(parsePort),
    )
    .addOption(new Option('--secure-port <n>', 'the same as --port').argParser(parsePort).conflicts('port'))
    .addOption(
      new Option(
        '--bind-address <ip>',
        'address to serve on; 0.0.0.0 or :: for all, which other machines can reach',
      )
        .default('127.0.0.1')
        .argParser(parseAddress),
    )
    .addOption(
      new Option(
        '--advertise-address <ip>',
        'where nodes and Pods reach this server: in the endpoints of the Service kubernetes (default: --bind-address, or the first address of this machine when that is a loopback address or all of them)',
      ).argParser(parseAdvertised),
    )
    .option(
      '--cert-dir <dir>',
      'where certificates and keys are kept, by the names of kubeadm (default: DATA-DIR/pki)',
    )
    .option(
      '--tls-cert-file <file>',
      'certificate to serve with, followed by its intermediates; read again when it changes (default: one that the CA in --cert-dir signs)',
    )
    .option('--tls-private-key-file <file>', 'its key')
    .addOption(
      new Option(
        '--tls-sni-cert-key <cert,key[:names]>',
        "another certificate and its key, for clients that ask for one of the names (default: the certificate's), which may begin with *.; may be repeated",
      ).argParser(appendSni),
    )
}

export function parsePort(text: string): number {
  if (!/^\d+$/.test(text) || Number(text) > 65535)
    throw new InvalidArgumentError('a port is a number from 0 to 65535.')
  return Number(text)
}

function parseAddress(text: string): string {
  if (isIP(text) === 0 || text.includes('%')) throw new InvalidArgumentError(`failed to parse IP: "${text}".`)
  return text
}

/** Endpoints may hold none of the others. */
function parseAdvertised(text: string): string {
  const address = parseAddress(text)
  if (isUnspecified(address) || isLoopback(address))
    throw new InvalidArgumentError(
      'an address that nodes can reach is needed: not a loopback address, and not all of them.',
    )
  return address
}

function appendSni(text: string, before: readonly SniCertKey[] = []): SniCertKey[] {
  const [files = '', names = '', ...more] = text.split(':')
  const [certFile = '', keyFile = '', ...others] = files.split(',').map(file => file.trim())
  if (certFile === '' || keyFile === '' || others.length > 0)
    throw new InvalidArgumentError('expected comma separated certificate and key file paths.')
  const given = names.split(',').map(name => name.trim())
  if (more.length > 0 || (text.includes(':') && given.includes('')))
    throw new InvalidArgumentError('expected domain names with commas after the colon.')
  return [...before, { certFile, keyFile, names: given.filter(name => name !== '') }]
}

export function isLoopback(address: string): boolean {
  return /^(?:::ffff:)?127\./i.test(address) || /^(?:0*:)+0*1$/.test(address)
}

/** Stands for every address of the machine. */
export function isUnspecified(address: string): boolean {
  return /^[0.:]+$/.test(address)
}
