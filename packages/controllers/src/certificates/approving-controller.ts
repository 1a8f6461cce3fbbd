import { SubjectAccessReview } from '@coxswain/api/authorization/v1'
import { CertificateSigningRequest } from '@coxswain/api/certificates/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import { formatTime } from '@coxswain/apimachinery/time'
import { decodeBase64Text } from '@coxswain/kit'
import { defineOperator, type Operator, type ReconcileContext } from '@coxswain/runtime'
import { type CertificateIssuer, findClientProblem } from './signing-controller.ts'

type SigningRequest = DeepReadonly<CertificateSigningRequest>

const nodeSigner = 'kubernetes.io/kube-apiserver-client-kubelet'

/** Approves client certificates of kubelets if the requester is authorized. Leaves all other requests to users. */
export function createCertificateApprovingController(issuer: Pick<CertificateIssuer, 'read'>): Operator {
  return defineOperator('certificatesigningrequest-approving-controller', operator => {
    operator
      .controller('certificatesigningrequest-approving')
      .for(CertificateSigningRequest)
      .reconcile(context => reconcile(context, issuer))
  })
}

async function reconcile(
  { client, key, clock, log }: ReconcileContext,
  issuer: Pick<CertificateIssuer, 'read'>,
): Promise<void> {
  const request = await client.get(CertificateSigningRequest, key)
  if (!request || request.spec.signerName !== nodeSigner || isDecided(request)) return
  const requested = issuer.read(decodeBase64Text(request.spec.request) ?? '')
  if (findClientProblem(requested, request.spec.usages ?? []) !== undefined) return
  const isSelf = request.spec.username === requested.commonName
  const ways = [
    ...(isSelf ? [{ subresource: 'selfnodeclient', what: 'self kubelet' }] : []),
    { subresource: 'nodeclient', what: 'kubelet' },
  ]
  for (const { subresource, what } of ways) {
    if (!(await isAllowed({ client }, request, subresource))) continue
    const now = formatTime(clock.now())
    const condition = {
      type: 'Approved',
      status: 'True',
      reason: 'AutoApproved',
      message: `Auto approving ${what} client certificate after SubjectAccessReview.`,
      lastUpdateTime: now,
      lastTransitionTime: now,
    }
    const conditions = [...(request.status?.conditions ?? []), condition]
    const approved = { ...request, status: { ...request.status, conditions } }
    await client.direct.subresource(CertificateSigningRequest, key, 'approval').update(approved)
    return
  }
  const tried = ways.map(way => way.subresource)
  log.info('access review did not approve a certificate signing request', { request: key.name, tried })
}

function isDecided({ status }: SigningRequest): boolean {
  const decided = (status?.conditions ?? []).some(({ type }) => type === 'Approved' || type === 'Denied')
  return decided || Boolean(status?.certificate)
}

async function isAllowed(
  { client }: Pick<ReconcileContext, 'client'>,
  { spec }: SigningRequest,
  subresource: string,
): Promise<boolean> {
  const { username, uid, groups, extra } = spec
  const review = await client.direct.create(SubjectAccessReview, {
    spec: {
      ...(username !== undefined && { user: username }),
      ...(uid !== undefined && { uid }),
      ...(groups && { groups }),
      ...(extra && { extra }),
      resourceAttributes: {
        group: 'certificates.k8s.io',
        version: '*',
        resource: 'certificatesigningrequests',
        subresource,
        verb: 'create',
      },
    },
  })
  return review.status?.allowed === true
}
