import type { FieldError } from '@coxswain/apimachinery/field'
import * as field from '@coxswain/apimachinery/field'
import { deepEqual, type JsonObject } from '@coxswain/apimachinery/json'
import { checkStructural } from '@coxswain/apimachinery/schema'
import { setCondition as upsertCondition } from '@coxswain/kinds'
import { isReadableBundle } from './conversion.ts'
import { type Crd, type CrdNames, isShared, versionsOf } from './crd.ts'

/** A condition of a CustomResourceDefinition. */
export interface CrdCondition {
  readonly type: string
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
}

interface StoredCondition extends CrdCondition {
  readonly lastTransitionTime: string
}

function conditionsOf(status: JsonObject | undefined): readonly StoredCondition[] {
  return (status?.conditions ?? []) as StoredCondition[]
}

/** Sets a condition; lastTransitionTime changes only with its status. */
export function setCondition(status: JsonObject, condition: CrdCondition, now: string): void {
  const { type, status: value, reason, message } = condition
  const next = { type, status: value, lastTransitionTime: now, reason, message }
  status.conditions = upsertCondition(conditionsOf(status), next)
}

function removeCondition(status: JsonObject, type: string): void {
  const conditions = conditionsOf(status)
  if (conditions.some(condition => condition.type === type)) {
    status.conditions = conditions.filter(condition => condition.type !== type)
  }
}

/** Whether a condition of this type has the status True. */
export function isConditionTrue(status: JsonObject | undefined, type: string): boolean {
  return conditionsOf(status).some(found => found.type === type && found.status === 'True')
}

/** Accepts the names that do not conflict. An established CRD stays established. `taken` is called when names changed. */
export function setNames(
  crd: Crd,
  status: JsonObject,
  { taken, now }: { readonly taken: () => TakenNames; readonly now: string },
): void {
  const wanted = crd.spec.names ?? {}
  const held = (status.acceptedNames ?? {}) as typeof wanted
  if (deepEqual(wanted, held)) return
  const { accepted, condition } = acceptNames(wanted, held, taken())
  status.acceptedNames = accepted
  setCondition(status, condition, now)
  if (isConditionTrue(status, 'Established')) return
  const waiting = condition.status === 'True'
  setCondition(
    status,
    {
      type: 'Established',
      status: 'False',
      reason: waiting ? 'Installing' : 'NotAccepted',
      message: waiting ? 'the initial names have been accepted' : 'not all names are accepted',
    },
    now,
  )
}

/** Establishes a CRD whose names are accepted, unless its conversion webhook could never be called. */
export function setEstablished(crd: Crd, status: JsonObject, now: string): void {
  if (!isConditionTrue(status, 'NamesAccepted') || isConditionTrue(status, 'Established')) return
  const webhook = crd.spec.conversion?.webhook as { clientConfig?: JsonObject } | undefined
  const bundle = webhook?.clientConfig?.caBundle
  const usable = !bundle || isReadableBundle(bundle)
  setCondition(
    status,
    usable
      ? {
          type: 'Established',
          status: 'True',
          reason: 'InitialNamesAccepted',
          message: 'the initial names have been accepted',
        }
      : {
          type: 'Established',
          status: 'False',
          reason: 'InvalidCABundle',
          message: 'The conversion webhook CABundle is invalid',
        },
    now,
  )
}

export const approvalAnnotation = 'api-approved.kubernetes.io'

/** Groups that belong to the Kubernetes project: a CRD there must have an annotation that says who approved it. */
export function isProtectedGroup(group: string): boolean {
  return /(?:^|\.)(?:k8s|kubernetes)\.io$/.test(group)
}

export interface Approval {
  readonly state: 'missing' | 'bypassed' | 'approved' | 'invalid'
  /** The message is upstream's. */
  readonly reason: string
}

const reference = 'see https://github.com/kubernetes/enhancements/pull/1111'

export function readApproval(annotations: Readonly<Record<string, string>> | undefined): Approval {
  const annotation = annotations?.[approvalAnnotation] ?? ''
  const rule = `protected groups must have approval annotation "${approvalAnnotation}"`
  if (annotation === '') return { state: 'missing', reason: `${rule}, ${reference}` }
  if (annotation.startsWith('unapproved')) {
    return { state: 'bypassed', reason: `not approved: ${JSON.stringify(annotation)}` }
  }
  // A scheme and a host, as Go's ParseRequestURI finds them.
  if (/^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/?#\s]+[^\s]*$/.test(annotation)) {
    return { state: 'approved', reason: `approved in ${annotation}` }
  }
  return {
    state: 'invalid',
    reason: `${rule} with either a URL or a reason starting with "unapproved", ${reference}`,
  }
}

/** What is wrong with the approval; an unchanged approval state is not validated. */
export function validateApproval(
  annotations: Readonly<Record<string, string>> | undefined,
  old: { readonly annotations?: Readonly<Record<string, string>> } | undefined,
): FieldError[] {
  const { state, reason } = readApproval(annotations)
  if (old && readApproval(old.annotations).state === state) return []
  const path = field.Path.of('metadata', 'annotations').key(approvalAnnotation)
  if (state === 'missing') return [field.required(path, reason)]
  return state === 'invalid' ? [field.invalid(path, annotations?.[approvalAnnotation], reason)] : []
}

const approvals = {
  approved: { status: 'True', reason: 'ApprovedAnnotation' },
  bypassed: { status: 'False', reason: 'UnapprovedAnnotation' },
  missing: { status: 'False', reason: 'MissingAnnotation' },
  invalid: { status: 'False', reason: 'InvalidAnnotation' },
} as const

/** Reports whether a CRD in a protected group of the Kubernetes project was approved. */
export function setApproval(crd: Crd, status: JsonObject, now: string): void {
  const type = 'KubernetesAPIApprovalPolicyConformant'
  if (!isProtectedGroup(crd.spec.group ?? '')) return
  const { state, reason: message } = readApproval(crd.metadata.annotations)
  setCondition(status, { type, ...approvals[state], message }, now)
}

/** Reports what keeps a schema from being structural: only CRDs stored before that became a requirement have it. */
export function setNonStructural(crd: Crd, status: JsonObject, now: string): void {
  const type = 'NonStructuralSchema'
  const { spec } = crd
  const versions = versionsOf(spec)
  const shared = isShared(spec, 'schema')
  const errors: FieldError[] = (shared ? versions.slice(0, 1) : versions).flatMap(({ schema }, index) => {
    const path = shared
      ? field.Path.of('spec', 'validation')
      : field.Path.of('spec', 'versions').index(index).child('schema')
    return schema?.openAPIV3Schema
      ? checkStructural(schema.openAPIV3Schema, path.child('openAPIV3Schema'))
      : []
  })
  if (errors.length === 0) removeCondition(status, type)
  else
    setCondition(
      status,
      { type, status: 'True', reason: 'Violations', message: field.aggregate(errors) },
      now,
    )
}

/** Names that other CRDs of the same group hold. */
export interface TakenNames {
  readonly resources: ReadonlySet<string>
  readonly kinds: ReadonlySet<string>
}

/** The union of the names of several CRDs. */
export function takenNames(accepted: Iterable<CrdNames>): TakenNames {
  const resources = new Set<string>()
  const kinds = new Set<string>()
  for (const { plural, singular, shortNames = [], kind, listKind } of accepted) {
    for (const name of [plural, singular, ...shortNames]) if (name) resources.add(name)
    for (const name of [kind, listKind]) if (name) kinds.add(name)
  }
  return { resources, kinds }
}

export interface NameVerdict {
  /** The names the CRD is served under: the requested ones, except those that other CRDs hold. */
  readonly accepted: CrdNames
  readonly condition: CrdCondition
}

/** Accepts the requested names that no other CRD holds, and keeps those accepted before. Reports the last conflict. */
export function acceptNames(wanted: CrdNames, held: CrdNames, { resources, kinds }: TakenNames): NameVerdict {
  const accepted: Record<string, unknown> = {
    plural: held.plural ?? '',
    singular: held.singular,
    shortNames: held.shortNames,
    kind: held.kind ?? '',
    listKind: held.listKind,
  }
  let conflict: { readonly reason: string; readonly message: string } | undefined
  const grant = (name: 'plural' | 'singular' | 'kind' | 'listKind', taken: ReadonlySet<string>) => {
    const value = wanted[name] ?? ''
    if (value === (held[name] ?? '') || !taken.has(value)) accepted[name] = value
    else conflict = { reason: `${name[0]!.toUpperCase()}${name.slice(1)}Conflict`, message: inUse(value) }
  }
  grant('plural', resources)
  grant('singular', resources)
  if (!deepEqual(wanted.shortNames, held.shortNames)) {
    const own = new Set(held.shortNames)
    const refused = (wanted.shortNames ?? []).filter(name => !own.has(name) && resources.has(name))
    const messages = [...new Set(refused.map(inUse))]
    if (messages.length === 0) accepted.shortNames = wanted.shortNames
    else {
      const message = messages.length === 1 ? messages[0]! : `[${messages.join(', ')}]`
      conflict = { reason: 'ShortNamesConflict', message }
    }
  }
  grant('kind', kinds)
  grant('listKind', kinds)
  accepted.categories = wanted.categories
  for (const name of Object.keys(accepted)) if (!accepted[name] && !isRequired(name)) delete accepted[name]
  return {
    accepted: accepted as CrdNames,
    condition: conflict
      ? { type: 'NamesAccepted', status: 'False', ...conflict }
      : { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' },
  }
}

function isRequired(name: string): boolean {
  return name === 'plural' || name === 'kind'
}

function inUse(name: string): string {
  return `${JSON.stringify(name)} is already in use`
}
