import { CertificateSigningRequest } from '@coxswain/api/certificates/v1'
import type { KindOf } from '@coxswain/apimachinery/kinds'
import { type DeepReadonly, isStatusConditionTrue } from '@coxswain/apimachinery/meta'
import { decodeBase64Text, encodeBase64Text } from '@coxswain/kit'
import { defineOperator, type Operator } from '@coxswain/runtime'

/** The content of a certificate request. */
export interface RequestedCertificate {
  readonly commonName: string
  readonly organizations: readonly string[]
  /** Whether it requests subject alternative names: DNS, IP, e-mail. */
  readonly hasOtherNames: boolean
}

/** Holds the key of the CA. Both functions throw an Error for an invalid certificate request. */
export interface CertificateIssuer {
  read(request: string): RequestedCertificate
  /** Issues a client certificate, in PEM, for `seconds` or the issuer's default lifetime. */
  sign(request: string, seconds: number | undefined): string
}

type SigningRequest = DeepReadonly<KindOf<typeof CertificateSigningRequest>>

const clientSigner = 'kubernetes.io/kube-apiserver-client'
const nodeSigner = 'kubernetes.io/kube-apiserver-client-kubelet'
const clientUsages = new Set(['digital signature', 'key encipherment', 'client auth'])
const shortest = 600

/**
 * Signs approved requests for the client certificate signers. A request that violates a signer's rules fails permanently, with
 * the reason in its status. Approval is left to other controllers and users.
 */
export function createCertificateSigningController(issuer: CertificateIssuer): Operator {
  return defineOperator('certificatesigningrequest-signing-controller', operator => {
    operator
      .controller('certificatesigningrequest-signing')
      .for(CertificateSigningRequest)
      .reconcile(async ({ key, client, clock }) => {
        const request = await client.get(CertificateSigningRequest, key)
        if (!request || !isDue(request)) return
        const { spec, status = {} } = request
        const text = decodeBase64Text(spec.request) ?? ''
        const problem = findProblem(spec, issuer.read(text))
        const seconds = spec.expirationSeconds
        const change =
          problem === undefined
            ? {
                certificate: encodeBase64Text(
                  issuer.sign(text, seconds === undefined ? undefined : Math.max(seconds, shortest)),
                ),
              }
            : {
                conditions: [
                  ...(status.conditions ?? []),
                  {
                    type: 'Failed',
                    status: 'True' as const,
                    reason: 'SignerValidationFailure',
                    message: problem,
                    lastUpdateTime: `${new Date(clock.now()).toISOString().slice(0, 19)}Z`,
                  },
                ],
              }
        await client.updateStatus(CertificateSigningRequest, { ...request, status: { ...status, ...change } })
      })
  })
}

function isDue({ spec, status }: SigningRequest): boolean {
  const has = (type: string) => isStatusConditionTrue(status?.conditions, type)
  const isOurs = spec.signerName === clientSigner || spec.signerName === nodeSigner
  return isOurs && !status?.certificate && has('Approved') && !has('Denied') && !has('Failed')
}

/** Returns why a signer rejects a request, in upstream's words. */
function findProblem(
  { signerName, usages = [] }: SigningRequest['spec'],
  { commonName, organizations, hasOtherNames }: RequestedCertificate,
): string | undefined {
  if (signerName === nodeSigner) {
    if (organizations.length !== 1 || organizations[0] !== 'system:nodes')
      return 'subject organization is not system:nodes'
    if (hasOtherNames) return 'DNS, IP, email and URI subjectAltNames are not allowed'
    if (!commonName.startsWith('system:node:')) return 'subject common name does not begin with system:node:'
  }
  const unknown = usages.find(usage => !clientUsages.has(usage))
  if (unknown !== undefined) return `invalid usage for client certificate: ${unknown}`
  return usages.includes('client auth')
    ? undefined
    : 'missing required usage for client certificate: client auth'
}
