import type {
  CertificateSigningRequest,
  CertificateSigningRequestStatus,
} from '@coxswain/api/certificates/v1'
import * as field from '@coxswain/apimachinery/field'
import { formatHumanDuration } from '@coxswain/apimachinery/time'
import type { Decoded } from '../decoded.ts'
import { defineStrategy } from '../define-strategy.ts'
import { ageCell, nameCell } from '../shared/cells.ts'
import { childOf } from '../shared/members.ts'
import { type Findings, numberOf } from '../shared/reading.ts'
import type { Strategy, StrategyContext, TableCells } from '../strategy.ts'
import {
  conditionsOf,
  preserveApprovals,
  stampConditions,
  validateConditions,
  validateConditionsUpdate,
} from './conditions.ts'
import { describeSignatureProblem } from './signature.ts'
import { validateSignerName } from './signer-name.ts'
import { describeCertificateProblem, readCertificateRequest } from './x509.ts'

const legacySigner = 'kubernetes.io/legacy-unknown'
const minExpirationSeconds = 600

const usages = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
]

export const certificateSigningRequestStrategy: Strategy = defineStrategy<CertificateSigningRequest>({
  validateName: () => [],
  prepareForCreate(object, { user }) {
    const spec = childOf(object, 'spec')
    for (const name of ['username', 'uid', 'groups', 'extra'] as const) delete spec[name]
    if (user.name !== '') spec.username = user.name
    if (user.uid) spec.uid = user.uid
    if (user.groups.length > 0) spec.groups = [...user.groups]
    const extra = Object.entries(user.extra ?? {})
    if (extra.length > 0) spec.extra = Object.fromEntries(extra.map(([key, values]) => [key, [...values]]))
  },
  prepareForUpdate(object, old) {
    object.spec = old.spec ?? {}
  },
  prepareForStatusUpdate(object, old, { clock }) {
    preserveApprovals(object, old)
    stampConditions(object, old, clock.now())
  },
  validate: validateRequest,
  validateUpdate: (object, old) => validateChange(object, old, {}),
  validateStatusUpdate: (object, old, context) => [
    ...validateRequest(object, context, old),
    ...validateChange(object, old, { maySign: true }),
  ],
  subresources: {
    approval: {
      prepareForUpdate(object, old, { clock }) {
        stampConditions(object, old, clock.now())
        const { conditions } = object.status ?? {}
        const status: Decoded<CertificateSigningRequestStatus> = { ...old.status }
        delete status.conditions
        object.spec = old.spec ?? {}
        object.status = conditions === undefined ? status : { conditions, ...status }
      },
      validateUpdate: (object, old, context) => [
        ...validateRequest(object, context, old),
        ...validateChange(object, old, { mayApprove: true }),
      ],
    },
  },
  resetFields: subresource =>
    subresource === 'status'
      ? { reset: ['spec', 'status.conditions'] }
      : subresource === 'approval'
        ? { reset: ['spec', 'status.certificate'] }
        : { reset: ['spec', 'status'] },
  fields: object => ({ 'spec.signerName': object.spec?.signerName ?? '' }),
  cells: printRequest,
})

const certificateOf = (object: Decoded<CertificateSigningRequest>): string => object.status?.certificate ?? ''

function* validateRequest(
  object: Decoded<CertificateSigningRequest>,
  { verifySignature }: StrategyContext,
  old: Decoded<CertificateSigningRequest> | undefined,
): Findings {
  const spec = object.spec ?? {}
  const path = field.Path.of('spec')
  const request = readCertificateRequest(spec.request ?? '')
  const problem =
    typeof request === 'string' ? request : describeSignatureProblem(request.signed, verifySignature)
  if (problem !== undefined) yield field.invalid(path.child('request'), spec.request ?? null, problem)
  yield* validateUsages(spec.usages ?? [], old && (old.spec?.usages ?? []))
  const signer = spec.signerName ?? ''
  if (signer === legacySigner && (old?.spec?.signerName ?? '') !== legacySigner)
    yield field.invalid(
      path.child('signerName'),
      signer,
      'the legacy signerName is not allowed via this API version',
    )
  else yield* validateSignerName(signer, path.child('signerName'))
  const { expirationSeconds } = spec
  if (expirationSeconds !== undefined && numberOf(expirationSeconds) < minExpirationSeconds)
    yield field.invalid(
      path.child('expirationSeconds'),
      expirationSeconds,
      'may not specify a duration less than 600 seconds (10 minutes)',
    )
  yield* validateConditions(object, old)
  yield* validateCertificate(object, old)
}

function* validateUsages(found: readonly string[], before: readonly string[] = []): Findings {
  const path = field.Path.of('spec', 'usages')
  if (found.length === 0) yield field.required(path)
  if (before.every(usage => usages.includes(usage)))
    for (const [index, usage] of found.entries())
      if (!usages.includes(usage)) yield field.notSupported(path.index(index), usage, usages)
  if (new Set(before).size < before.length) return
  const seen = new Set<string>()
  for (const [index, usage] of found.entries()) {
    if (seen.has(usage)) yield field.duplicate(path.index(index), usage)
    seen.add(usage)
  }
}

function* validateCertificate(
  object: Decoded<CertificateSigningRequest>,
  old: Decoded<CertificateSigningRequest> | undefined,
): Findings {
  const certificate = certificateOf(object)
  if (old && certificateOf(old) === certificate) return
  if (old && describeCertificateProblem(certificateOf(old)) !== undefined) return
  const problem = describeCertificateProblem(certificate)
  if (problem !== undefined)
    yield field.invalid(field.Path.of('status', 'certificate'), '<certificate data>', problem)
}

interface Rights {
  readonly mayApprove?: boolean
  readonly maySign?: boolean
}

function* validateChange(
  object: Decoded<CertificateSigningRequest>,
  old: Decoded<CertificateSigningRequest>,
  rights: Rights,
): Findings {
  yield* validateConditionsUpdate(object, old, rights.mayApprove === true)
  if (certificateOf(object) === certificateOf(old)) return
  const path = field.Path.of('status', 'certificate')
  if (!rights.maySign) yield field.forbidden(path, 'updates may not set certificate content')
  else if (certificateOf(old) !== '')
    yield field.forbidden(path, 'updates may not modify existing certificate content')
}

function printRequest(object: Decoded<CertificateSigningRequest>, now: number): TableCells {
  const { signerName, username, expirationSeconds } = object.spec ?? {}
  const types = conditionsOf(object).map(({ type }) => type)
  const state = [types.includes('Denied') ? 'Denied' : types.includes('Approved') ? 'Approved' : 'Pending']
  if (types.includes('Failed')) state.push('Failed')
  if (certificateOf(object) !== '') state.push('Issued')
  return {
    Name: nameCell(object),
    Age: ageCell(object, now),
    SignerName: (signerName ?? '') || '<none>',
    Requestor: username ?? '',
    RequestedDuration:
      expirationSeconds === undefined ? '<none>' : formatHumanDuration(numberOf(expirationSeconds) * 1000),
    Condition: state.join(','),
  }
}
