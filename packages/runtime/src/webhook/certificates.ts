import type { ObjectKey } from '@coxswain/apimachinery/meta'
import { isAlreadyExists, isConflict, isNotFound } from '@coxswain/apimachinery/status'
import type { CallOptions, Client } from '@coxswain/client'
import { type Clock, decodeBase64Text, encodeBase64Text, type Logger } from '@coxswain/kit'
import { type Secret, secretKind } from './kinds.ts'

/** A certificate and its private key, in PEM. */
export interface WebhookKeyPair {
  readonly certificate: string
  readonly key: string
}

/** Creates and reads certificates: a port, since crypto is not available everywhere. */
export interface CertificateMaker {
  /** A self-signed CA. Times are milliseconds since the epoch. */
  createCa(name: string, validity: Validity): WebhookKeyPair
  createServer(hosts: readonly string[], validity: Validity, ca: WebhookKeyPair): WebhookKeyPair
  /** The content of a certificate; undefined when it cannot be parsed, or does not match the key. */
  read(pair: WebhookKeyPair): (Validity & { readonly hosts: readonly string[] }) | undefined
  isSignedBy(certificate: string, ca: string): boolean
}

/** The validity of a certificate, in milliseconds since the epoch. */
export interface Validity {
  readonly notBefore: number
  readonly notAfter: number
}

/** The current certificates of a webhook server. */
export interface WebhookCertificates {
  /** The serving certificate. */
  readonly server: WebhookKeyPair
  /** PEM of all trusted CAs: that of `server`, and the next or the previous one. */
  readonly caBundle: string
}

/** What is stored, all in PEM. `retired` is the certificate of the previous CA, as long as something may be signed by it. */
export interface CertificateMaterial {
  readonly ca: WebhookKeyPair
  readonly server: WebhookKeyPair
  readonly retired?: string
}

/** Options of {@link CertificateRotation}. */
export interface CertificateRotationOptions {
  readonly maker: CertificateMaker
  readonly clock: Clock
  readonly log: Logger
  /** Names and addresses that API servers connect to. */
  readonly hosts: readonly string[]
  /** The common name of the CA. */
  readonly name: string
  /** The certificates to begin with; invalid ones are replaced. @default new ones */
  readonly initial?: CertificateMaterial
  /** Where replicas share them. @default each process has its own, in memory */
  readonly secret?: { readonly client: Client; readonly key: ObjectKey }
}

const day = 86_400_000
const caValidity = 365 * day
const serverValidity = 90 * day
/** The remaining part of the validity at which a certificate is renewed. */
const renewWith = 1 / 3
/** The allowance for clock skew. */
const skew = 3_600_000
/** How long a new CA is in the bundle before anything is signed with it: until every API server has seen it. */
const settleTime = 600_000

/**
 * Keeps a CA and a server certificate of webhooks valid at all times, and shares them between replicas in a Secret.
 *
 *   CA with a third of its validity left -> the next one joins the bundle -> ten minutes -> it signs the server's certificate
 *
 * so that a client with the previous or the new bundle trusts the server. What one replica writes the others use after
 * their next check, and of two concurrent writes the first wins.
 */
export class CertificateRotation {
  readonly #options: CertificateRotationOptions
  #material: CertificateMaterial | undefined

  constructor(options: CertificateRotationOptions) {
    this.#options = options
    this.#material = options.initial
  }

  /** The certificates and their keys, for the process that replaces this one. */
  get material(): CertificateMaterial | undefined {
    return this.#material
  }

  /** The certificates to use now, created or renewed when due. Rejects when the Secret cannot be read or written. */
  async ensure(signal?: AbortSignal): Promise<WebhookCertificates> {
    const call = signal ? { signal } : {}
    for (;;) {
      const stored = await this.#read(call)
      const present = stored?.material ?? this.#material
      const next = this.#renew(present)
      const isSettled = next === stored?.material || !this.#options.secret
      if (isSettled || (await this.#write(next, stored?.secret, call))) {
        this.#material = next
        return { server: next.server, caBundle: bundleOf(next) }
      }
    }
  }

  /** `present` when there is nothing to do. */
  #renew(present: CertificateMaterial | undefined): CertificateMaterial {
    const { maker, clock, hosts, log, name } = this.#options
    const now = clock.now()
    const createCa = () => maker.createCa(name, { notBefore: now - skew, notAfter: now + caValidity })
    const ca = present && maker.read(present.ca)
    if (!present || !ca || ca.notAfter <= now) {
      log.info('created a CA for webhooks', { name })
      const made = createCa()
      return { ca: made, server: this.#sign(made) }
    }
    if (isDue(ca, now)) {
      log.info('created the next CA for webhooks', { name })
      return { ca: createCa(), server: present.server, retired: present.ca.certificate }
    }
    const server = maker.read(present.server)
    const isUsable =
      server !== undefined && server.notAfter > now && hosts.every(host => server.hosts.includes(host))
    const isOfCa = maker.isSignedBy(present.server.certificate, present.ca.certificate)
    const isCaKnown = !present.retired || now - (ca.notBefore + skew) >= settleTime
    // Until the next CA is trusted everywhere, the current one signs, as long as it is valid.
    if (isUsable && (!isCaKnown || (isOfCa && !isDue(server, now)))) return present
    log.info('created a certificate for webhooks', { name, hosts })
    return { ...present, server: this.#sign(present.ca) }
  }

  #sign(ca: WebhookKeyPair): WebhookKeyPair {
    const { maker, clock, hosts } = this.#options
    const now = clock.now()
    return maker.createServer(hosts, { notBefore: now - skew, notAfter: now + serverValidity }, ca)
  }

  async #read(
    call: CallOptions,
  ): Promise<{ readonly secret: Secret; readonly material: CertificateMaterial | undefined } | undefined> {
    const { secret: place } = this.#options
    if (!place) return undefined
    const secret = await place.client.get(secretKind, place.key, call)
    return secret && { secret, material: this.#known(materialOf(secret)) }
  }

  /** The same object for the same content, so that identity shows whether something changed. */
  #known(material: CertificateMaterial | undefined): CertificateMaterial | undefined {
    const known = this.#material
    const isSame = known && material && JSON.stringify(known) === JSON.stringify(material)
    return isSame ? known : material
  }

  /** False when another replica wrote first. */
  async #write(
    material: CertificateMaterial,
    existing: Secret | undefined,
    call: CallOptions,
  ): Promise<boolean> {
    const { client, key } = this.#options.secret!
    const data = dataOf(material)
    try {
      if (existing)
        await client.update(secretKind, { ...existing, data: { ...existing.data, ...data } }, call)
      else await client.create(secretKind, { metadata: key, type: 'kubernetes.io/tls', data }, call)
      return true
    } catch (error) {
      if (isAlreadyExists(error) || isConflict(error) || (existing && isNotFound(error))) return false
      throw error
    }
  }
}

function isDue({ notBefore, notAfter }: Validity, now: number): boolean {
  return notAfter - now < (notAfter - notBefore) * renewWith
}

function bundleOf({ ca, retired = '' }: CertificateMaterial): string {
  return `${ca.certificate}${retired}`
}

function dataOf({ ca, server, retired = '' }: CertificateMaterial): Record<string, string> {
  const texts = {
    'ca.crt': ca.certificate,
    'ca.key': ca.key,
    'ca-retired.crt': retired,
    'tls.crt': server.certificate,
    'tls.key': server.key,
  }
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, encodeBase64Text(text)]))
}

/** Undefined when anything is missing. */
function materialOf({ data = {} }: Secret): CertificateMaterial | undefined {
  const text = (name: string): string => decodeBase64Text(data[name] ?? '') ?? ''
  const ca = { certificate: text('ca.crt'), key: text('ca.key') }
  const server = { certificate: text('tls.crt'), key: text('tls.key') }
  const retired = text('ca-retired.crt')
  if (ca.certificate === '' || ca.key === '' || server.certificate === '' || server.key === '')
    return undefined
  return { ca, server, ...(retired !== '' && { retired }) }
}
