import { deepEqual, isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { newForbidden } from '@coxswain/apimachinery/status'
import { readCertificateRequest } from '@coxswain/strategies'
import type { RequestVerb } from '../request/request-info.ts'
import type { AdmissionPlugin } from './admission.ts'
import type { Attributes } from './attributes.ts'

const apiClientSigner = 'kubernetes.io/kube-apiserver-client'

const member = (object: JsonObject | undefined, name: string): JsonObject =>
  isObject(object?.[name]) ? object[name] : {}

function isRequest({ resource, subresource }: Attributes, wanted: string): boolean {
  const { group, resource: name } = resource.info
  return group === 'certificates.k8s.io' && name === 'certificatesigningrequests' && subresource === wanted
}

/** Requires permission to `approve` for the signer. */
export const certificateApproval: AdmissionPlugin = {
  name: 'CertificateApproval',
  async validate(attributes) {
    if (attributes.operation !== 'UPDATE' || !isRequest(attributes, 'approval')) return
    await requireSigner(attributes, 'approve')
  },
}

/** Requires permission to `sign` for the signer. */
export const certificateSigning: AdmissionPlugin = {
  name: 'CertificateSigning',
  async validate(attributes) {
    if (attributes.operation !== 'UPDATE' || !isRequest(attributes, 'status')) return
    const now = member(attributes.object, 'status')
    const before = member(attributes.oldObject, 'status')
    const isSame = (name: string) => deepEqual(now[name], before[name])
    if (!isSame('certificate') || !isSame('conditions')) await requireSigner(attributes, 'sign')
  },
}

/** Rejects requests for client certificates in the group `system:masters`. */
export const certificateSubjectRestriction: AdmissionPlugin = {
  name: 'CertificateSubjectRestriction',
  validate(attributes) {
    if (attributes.operation !== 'CREATE' || !isRequest(attributes, '')) return
    const { signerName, request } = member(attributes.object, 'spec')
    if (signerName !== apiClientSigner) return
    const parsed = readCertificateRequest(String(request ?? ''))
    if (typeof parsed === 'string') throw refusal(attributes, `failed to parse CSR: ${parsed}`)
    if (parsed.organizations.includes('system:masters'))
      throw refusal(attributes, `use of ${apiClientSigner} signer with system:masters group is not allowed`)
  },
}

/** Requires permission to `attest` for the signer of a ClusterTrustBundle. */
export const clusterTrustBundleAttest: AdmissionPlugin = {
  name: 'ClusterTrustBundleAttest',
  async validate(attributes) {
    const { operation, object, oldObject } = attributes
    const { group, resource } = attributes.resource.info
    if (group !== 'certificates.k8s.io' || resource !== 'clustertrustbundles') return
    if (operation !== 'CREATE' && operation !== 'UPDATE') return
    const { signerName } = member(object, 'spec')
    if (typeof signerName !== 'string' || signerName === '') return
    if (operation === 'UPDATE' && deepEqual(object?.spec, oldObject?.spec)) return
    if (await maySign(attributes, 'attest', signerName)) return
    throw refusal(attributes, `user not permitted to attest for signerName ${JSON.stringify(signerName)}`)
  },
}

/** Permission may be for the signer itself or for every signer of its domain. */
async function maySign(attributes: Attributes, verb: string, signer: string): Promise<boolean> {
  const { server, user } = attributes
  const mayActAs = async (name: string) => {
    const { verdict } = await server.authorizer({
      user,
      info: {
        isResource: true,
        verb: verb as unknown as RequestVerb, // authorizers accept any verb
        group: 'certificates.k8s.io',
        version: '*',
        namespace: '',
        resource: 'signers',
        subresource: '',
        name,
        rest: [],
        legacyWatch: false,
      },
    })
    return verdict === 'allow'
  }
  return (await mayActAs(signer)) || (await mayActAs(`${signer.split('/', 1)[0]}/*`))
}

async function requireSigner(attributes: Attributes, verb: 'approve' | 'sign'): Promise<void> {
  const signer = String(member(attributes.oldObject, 'spec').signerName ?? '')
  if (await maySign(attributes, verb, signer)) return
  throw refusal(
    attributes,
    `user not permitted to ${verb} requests with signerName ${JSON.stringify(signer)}`,
  )
}

function refusal({ resource, name }: Attributes, message: string): Error {
  return newForbidden(resource.info, name, message)
}
