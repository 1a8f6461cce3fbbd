import type {
  CertificateSigningRequest,
  CertificateSigningRequestCondition,
} from '@coxswain/api/certificates/v1'
import * as field from '@coxswain/apimachinery/field'
import { deepEqual } from '@coxswain/apimachinery/json'
import { formatTime } from '@coxswain/apimachinery/time'
import type { Decoded } from '../decoded.ts'
import { childOf } from '../shared/members.ts'
import type { Findings } from '../shared/reading.ts'

/** Conditions that are true or absent. */
const oneWay = ['Approved', 'Denied', 'Failed']
const approvals = ['Approved', 'Denied']
const statuses = ['False', 'True', 'Unknown']

export const conditionsOf = (
  object: Decoded<CertificateSigningRequest>,
): Decoded<CertificateSigningRequestCondition>[] => object.status?.conditions ?? []

const ofType = (
  object: Decoded<CertificateSigningRequest>,
  type: string,
): Decoded<CertificateSigningRequestCondition>[] =>
  conditionsOf(object).filter(condition => condition.type === type)

/** Which rules a stored object that breaks them may keep breaking. */
interface Tolerance {
  readonly bothApprovals: boolean
  readonly duplicateTypes: boolean
  readonly emptyType: boolean
}

function toleranceFor(old: Decoded<CertificateSigningRequest> | undefined): Tolerance {
  const types = old ? conditionsOf(old).map(({ type }) => type ?? '') : []
  return {
    bothApprovals: approvals.every(type => types.includes(type)),
    duplicateTypes: new Set(types).size < types.length,
    emptyType: types.includes(''),
  }
}

export function* validateConditions(
  object: Decoded<CertificateSigningRequest>,
  old: Decoded<CertificateSigningRequest> | undefined,
): Findings {
  const path = field.Path.of('status', 'conditions')
  const tolerated = toleranceFor(old)
  const seen = new Set<string>()
  for (const [index, condition] of conditionsOf(object).entries()) {
    const type = condition.type ?? ''
    const status = condition.status ?? ''
    const at = path.index(index)
    const allowed = oneWay.includes(type) ? ['True'] : statuses
    if (type === '' && !tolerated.emptyType) yield field.required(at.child('type'))
    if (status === '') yield field.required(at.child('status'))
    else if (!allowed.includes(status)) yield field.notSupported(at.child('status'), status, allowed)
    const other = approvals.find(candidate => approvals.includes(type) && candidate !== type)
    if (other !== undefined && seen.has(other) && !tolerated.bothApprovals)
      yield field.invalid(path, type, 'Approved and Denied conditions are mutually exclusive')
    if (seen.has(type) && !tolerated.duplicateTypes) yield field.duplicate(at.child('type'), type)
    seen.add(type)
  }
}

/** Approvals and denials stay; only the approval subresource sets them. */
export function* validateConditionsUpdate(
  object: Decoded<CertificateSigningRequest>,
  old: Decoded<CertificateSigningRequest>,
  mayApprove: boolean,
): Findings {
  const path = field.Path.of('status', 'conditions')
  for (const type of oneWay)
    if (ofType(object, type).length < ofType(old, type).length)
      yield field.forbidden(path, `updates may not remove a condition of type "${type}"`)
  if (mayApprove) return
  for (const type of approvals) {
    const now = ofType(object, type)
    const before = ofType(old, type)
    if (now.length > before.length)
      yield field.forbidden(path, `updates may not add a condition of type "${type}"`)
    else if (now.length === before.length && !deepEqual(now, before))
      yield field.forbidden(path, `updates may not modify a condition of type "${type}"`)
  }
}

/** Keeps the stored approvals, whatever the client sent in their place. */
export function preserveApprovals(
  object: Decoded<CertificateSigningRequest>,
  old: Decoded<CertificateSigningRequest>,
): void {
  const conditions = conditionsOf(object)
  for (const type of approvals) {
    const before = ofType(old, type)
    if (before.length !== ofType(object, type).length) continue
    let next = 0
    for (const [index, condition] of conditions.entries())
      if (condition.type === type) conditions[index] = { ...before[next++] }
  }
  if (conditions.length > 0) childOf(object, 'status').conditions = conditions
}

/** Sets the times that the client left out. */
export function stampConditions(
  object: Decoded<CertificateSigningRequest>,
  old: Decoded<CertificateSigningRequest>,
  now: number,
): void {
  const stamp = formatTime(now)
  const identity = ({ type, status }: Decoded<CertificateSigningRequestCondition>) =>
    JSON.stringify([type, status])
  const before = Map.groupBy(conditionsOf(old), identity)
  for (const condition of conditionsOf(object)) {
    condition.lastUpdateTime ??= stamp
    condition.lastTransitionTime ??= before.get(identity(condition))?.[0]?.lastTransitionTime ?? stamp
  }
}
