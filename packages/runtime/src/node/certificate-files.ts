import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock, Logger } from '@coxswain/kit'
import type { WebhookKeyPair } from '../webhook/certificates.ts'

/** A certificate and its key in a directory. */
export interface CertificateFiles {
  readonly path: string
  /** @default 'tls.crt' */
  readonly name?: string
  /** @default 'tls.key' */
  readonly key?: string
}

/** How often the files are read, as controller-runtime does. */
const filePeriod = 10_000

export async function readCertificateFiles(files: CertificateFiles): Promise<WebhookKeyPair> {
  const { path, name = 'tls.crt', key = 'tls.key' } = files
  // One after the other: where both are missing, the certificate is reported.
  const certificate = await readFile(join(path, name), 'utf8')
  return { certificate, key: await readFile(join(path, key), 'utf8') }
}

export interface FollowOptions {
  readonly clock: Clock
  readonly log: Logger
  readonly signal: AbortSignal
  /** Throws when key and certificate do not match: they are read again later. */
  readonly onChange: (pair: WebhookKeyPair) => void
}

/** Calls back with the key pair each time the files change, until `signal` aborts. */
export function followCertificate(
  files: CertificateFiles,
  first: WebhookKeyPair,
  { clock, log, signal, onChange }: FollowOptions,
): void {
  let present = first.certificate
  const look = async (): Promise<void> => {
    while (!signal.aborted) {
      await clock.sleep(filePeriod, { signal })
      try {
        const pair = await readCertificateFiles(files)
        if (pair.certificate === present) continue
        onChange(pair)
        present = pair.certificate
        log.info('loaded a new certificate', { directory: files.path })
      } catch (error) {
        log.warn('the certificate cannot be read', { error, directory: files.path })
      }
    }
  }
  look().catch(() => {}) // the signal
}
