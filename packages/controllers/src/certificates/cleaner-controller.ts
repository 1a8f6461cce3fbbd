import { CertificateSigningRequest } from '@coxswain/api/certificates/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import { isNotFound } from '@coxswain/apimachinery/status'
import { decodeBase64Text, minOf } from '@coxswain/kit'
import { defineOperator, type Operator, type ReconcileResult, requeueAfter } from '@coxswain/runtime'

/** Options of {@link createCertificateCleanerController}. */
export interface CertificateCleanerOptions {
  /** Returns when a certificate expires, in milliseconds. @default unknown: an issued request is deleted an hour after its approval */
  readonly expiresAt?: (pem: string) => number | undefined
}

const hour = 3_600_000
/** How long decided requests and pending requests are kept. */
const doneFor = hour
const pendingFor = 24 * hour

/** Deletes certificate signing requests that are decided, expired or never answered. */
export function createCertificateCleanerController(options: CertificateCleanerOptions = {}): Operator {
  return defineOperator('certificatesigningrequest-cleaner-controller', operator => {
    operator
      .controller('certificatesigningrequest-cleaner')
      .for(CertificateSigningRequest)
      .reconcile(async ({ client, key, clock }): Promise<ReconcileResult> => {
        const request = await client.get(CertificateSigningRequest, key)
        if (!request) return
        const due = endOf(request, options)
        if (due === undefined) return
        if (due > clock.now()) return requeueAfter(due - clock.now())
        const { uid } = request.metadata
        try {
          await client.delete(CertificateSigningRequest, key, { preconditions: { uid } })
        } catch (error) {
          if (!isNotFound(error)) throw error
        }
      })
  })
}

/** When it may be deleted: the earliest time that its conditions give. */
function endOf(
  { metadata, status }: DeepReadonly<CertificateSigningRequest>,
  { expiresAt }: CertificateCleanerOptions,
): number | undefined {
  const conditions = status?.conditions ?? []
  if (conditions.length === 0) return Date.parse(metadata.creationTimestamp) + pendingFor + 1
  const isIssued = Boolean(status?.certificate)
  const ends = conditions.flatMap(({ type, lastUpdateTime }) => {
    if (!lastUpdateTime) return []
    const since = Date.parse(lastUpdateTime)
    if (type === 'Denied' || type === 'Failed') return [since + doneFor + 1]
    return type === 'Approved' ? [since + (isIssued ? doneFor : pendingFor) + 1] : []
  })
  const isApproved = conditions.some(({ type }) => type === 'Approved')
  const expiry =
    isIssued && isApproved ? expiresAt?.(decodeBase64Text(status!.certificate!) ?? '') : undefined
  if (expiry !== undefined) ends.push(expiry + 1)
  return ends.length === 0 ? undefined : minOf(ends)
}
