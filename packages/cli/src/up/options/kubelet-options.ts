import { type Command, InvalidArgumentError, Option } from 'commander'

/** The flags of `coxswain up` for other kubelets; the names are kube-apiserver's. */
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
      'client certificate for kubelets of other nodes (default: one signed by the CA of this server)',
    )
    .option('--kubelet-client-key <file>', 'its key')
    .option(
      '--kubelet-certificate-authority <file>',
      'CA of the serving certificates of those kubelets (default: they are not verified)',
    )
    .addOption(
      new Option(
        '--kubelet-preferred-address-types <list>',
        'types of node addresses to connect to, in order of preference',
      )
        .argParser(parseAddressTypes)
        .default(addressTypes, addressTypes.join(',')),
    )
}

function parseAddressTypes(text: string): string[] {
  const types = text.split(',').map(type => type.trim())
  if (types.every(type => addressTypes.includes(type))) return types
  throw new InvalidArgumentError(`must be a list of ${addressTypes.join(', ')}.`)
}
