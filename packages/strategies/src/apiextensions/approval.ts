import type { FieldError } from '@coxswain/apimachinery/field'
import * as field from '@coxswain/apimachinery/field'

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
