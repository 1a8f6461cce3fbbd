import { type Command, InvalidArgumentError, Option } from 'commander'

/** What `coxswain up` may be told about kubelets that are not its own; the names are kube-apiserver's. */
export interface KubeletFlags {
  readonly kubeletClientCertificate?: string
  readonly kubeletClientKey?: string
  readonly kubeletCertificateAuthority?: string
  readonly kubeletPreferredAddressTypes: readonly string[]
}

const addressTypes = ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP']

export function addKubeletOptions(command: Command): Command {
  return command
    .option(
      '--kubelet-client-certificate <file>',
      'what kubelets of other nodes are shown (default: one that the CA of this server signs)',
    )
    .option('--kubelet-client-key <file>', 'its key')
    .option(
      '--kubelet-certificate-authority <file>',
      'who signs the certificates of those kubelets (default: any certificate is taken)',
    )
    .addOption(
      new Option(
        '--kubelet-preferred-address-types <list>',
        'types of node addresses, the one to connect to first',
      )
        .argParser(parseAddressTypes)
        .default(addressTypes, addressTypes.join(',')),
    )
}

function parseAddressTypes(text: string): string[] {
  const types = text.split(',').map(type => type.trim())
  if (types.every(type => addressTypes.includes(type))) return types
  throw new InvalidArgumentError(`a list of ${addressTypes.join(', ')} is needed.`)
}
