import { CertificateSigningRequest } from '@coxswain/api/certificates/v1'
import type { KindOf } from '@coxswain/apimachinery/kinds'
import { type DeepReadonly, isStatusConditionTrue } from '@coxswain/apimachinery/meta'
import { decodeBase64Text, encodeBase64Text } from '@coxswain/kit'
import { defineOperator, type Operator } from '@coxswain/runtime'

/** The content of a certificate request. */
export interface RequestedCertificate {
  readonly commonName: string
  readonly organizations: readonly string[]
  /** Subject alternative names. */
  readonly dnsNames: readonly string[]
  readonly ipAddresses: readonly string[]
  readonly emailAddresses: readonly string[]
  readonly uris: readonly string[]
}

/** How a certificate is to be signed. */
export interface SigningOptions {
  /** @default the issuer's lifetime */
  readonly seconds?: number
  /** As in the `usages` of a request. */
  readonly usages: readonly string[]
}

/** Holds the key of the CA. Both functions throw an Error for an invalid certificate request. */
export interface CertificateIssuer {
  read(request: string): RequestedCertificate
  /** Issues a certificate, in PEM, with the names of the request. */
  sign(request: string, options: SigningOptions): string
}

type SigningRequest = DeepReadonly<KindOf<typeof CertificateSigningRequest>>

const clientSigner = 'kubernetes.io/kube-apiserver-client'
const nodeSigner = 'kubernetes.io/kube-apiserver-client-kubelet'
const servingSigner = 'kubernetes.io/kubelet-serving'
const signers: readonly string[] = [clientSigner, nodeSigner, servingSigner]
const clientUsages = new Set(['digital signature', 'key encipherment', 'client auth'])
const shortest = 600

/**
 * Signs approved requests for the signers of Kubernetes. A request that violates a signer's rules fails permanently, with
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
        const options = {
          usages: spec.usages ?? [],
          ...(seconds !== undefined && { seconds: Math.max(seconds, shortest) }),
        }
        const change =
          problem === undefined
            ? { certificate: encodeBase64Text(issuer.sign(text, options)) }
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
  return (
    signers.includes(spec.signerName) &&
    !status?.certificate &&
    has('Approved') &&
    !has('Denied') &&
    !has('Failed')
  )
}

/** Returns why a signer rejects a request, in upstream's words. */
function findProblem(
  { signerName, usages = [] }: SigningRequest['spec'],
  requested: RequestedCertificate,
): string | undefined {
  switch (signerName) {
    case nodeSigner:
      return findClientProblem(requested, usages)
    case servingSigner:
      return findServingProblem(requested, usages)
    case clientSigner: {
      const unknown = usages.find(usage => !clientUsages.has(usage))
      if (unknown !== undefined) return `invalid usage for client certificate: ${unknown}`
      return usages.includes('client auth')
        ? undefined
        : 'missing required usage for client certificate: client auth'
    }
    default:
      return undefined
  }
}

/** Returns why a request is not one for the client certificate of a kubelet, in upstream's words. */
export function findClientProblem(
  { commonName, organizations, dnsNames, emailAddresses, ipAddresses, uris }: RequestedCertificate,
  usages: readonly string[],
): string | undefined {
  if (!isOfNodes(organizations)) return notOfNodes
  if (dnsNames.length > 0) return 'DNS subjectAltNames are not allowed'
  if (emailAddresses.length > 0) return noEmail
  if (ipAddresses.length > 0) return 'IP subjectAltNames are not allowed'
  if (uris.length > 0) return noUri
  if (!commonName.startsWith(nodePrefix)) return notNode
  return matchUsages(usages, 'client auth')
}

function findServingProblem(
  { commonName, organizations, dnsNames, emailAddresses, ipAddresses, uris }: RequestedCertificate,
  usages: readonly string[],
): string | undefined {
  if (!isOfNodes(organizations)) return notOfNodes
  if (dnsNames.length + ipAddresses.length === 0) return 'DNS or IP subjectAltName is required'
  if (emailAddresses.length > 0) return noEmail
  if (uris.length > 0) return noUri
  const mismatch = matchUsages(usages, 'server auth')
  if (mismatch !== undefined) return mismatch
  return commonName.startsWith(nodePrefix) ? undefined : notNode
}

const nodePrefix = 'system:node:'
const notOfNodes = 'subject organization is not system:nodes'
const notNode = 'subject common name does not begin with system:node:'
const noEmail = 'Email subjectAltNames are not allowed'
const noUri = 'URI subjectAltNames are not allowed'

function isOfNodes(organizations: readonly string[]): boolean {
  return organizations.length === 1 && organizations[0] === 'system:nodes'
}

/** Key encipherment is for keys of RSA; the others are required. */
function matchUsages(usages: readonly string[], purpose: 'client auth' | 'server auth'): string | undefined {
  const all = ['digital signature', 'key encipherment', purpose].sort()
  const given = new Set(usages)
  const isMatch =
    given.has('digital signature') && given.has(purpose) && [...given].every(usage => all.includes(usage))
  return isMatch ? undefined : `usages did not match [${all.join(' ')}]`
}
