import type { KubeletClient } from '@coxswain/apiserver'
import { CommandError } from '../../exit.ts'
import { readCertificates, readFlagFile, readPrivateKey } from '../options/flag-file.ts'
import type { KubeletFlags } from '../options/kubelet-options.ts'

/** PEM: a certificate and its key. */
interface Pair {
  readonly certificate: string
  readonly key: string
}

/**
 * How the API server connects to other kubelets. `ownPair` creates the client certificate where none is
 * given, on demand. Throws a CommandError for files that cannot be read.
 */
export function createKubeletClient(flags: KubeletFlags, ownPair: () => Pair): () => KubeletClient {
  const { kubeletClientCertificate: cert, kubeletClientKey: key, kubeletPreferredAddressTypes } = flags
  if ((cert === undefined) !== (key === undefined)) {
    const message = '--kubelet-client-certificate and --kubelet-client-key must be given together'
    throw new CommandError(message, { exitCode: 2 })
  }
  const given =
    cert === undefined || key === undefined
      ? undefined
      : {
          certificate: readFlagFile('kubelet-client-certificate', cert, readCertificates),
          key: readFlagFile('kubelet-client-key', key, readPrivateKey),
        }
  const authority = flags.kubeletCertificateAuthority
  const ca =
    authority === undefined
      ? undefined
      : readFlagFile('kubelet-certificate-authority', authority, readCertificates)
  let client: KubeletClient | undefined
  return () => {
    if (!client) {
      const pair = given ?? ownPair()
      client = {
        cert: pair.certificate,
        key: pair.key,
        ...(ca !== undefined && { ca }),
        preferredAddressTypes: kubeletPreferredAddressTypes,
      }
    }
    return client
  }
}
