import * as field from '@coxswain/apimachinery/field'
import { newBadRequest, newInvalid } from '@coxswain/apimachinery/status'
import { validateFieldManager } from '@coxswain/apimachinery/validation'
import { getHeader } from '@coxswain/wire'
import type { RequestContext } from './context.ts'

export type FieldValidation = 'Ignore' | 'Warn' | 'Strict'

/** The query of a create, update or patch. */
export interface WriteOptions {
  readonly dryRun: boolean
  readonly fieldValidation: FieldValidation
  /** The field manager: the parameter, or the user agent up to the first slash. */
  readonly fieldManager: string
  /** Whether the client set the manager. */
  readonly namedManager: boolean
}

const longestManager = 128

export function parseWriteOptions(
  context: RequestContext,
  kind: 'CreateOptions' | 'UpdateOptions' | 'PatchOptions' | 'ApplyOptions',
): WriteOptions {
  const { query } = context
  const errors = []
  const dryRun = query.getAll('dryRun')
  if (dryRun.length > 0 && (dryRun.length > 1 || dryRun[0] !== 'All')) {
    errors.push(field.notSupported(field.Path.of('dryRun'), dryRun, ['All']))
  }
  const validation = query.get('fieldValidation') ?? ''
  if (validation !== '' && validation !== 'Ignore' && validation !== 'Warn' && validation !== 'Strict') {
    errors.push(
      field.notSupported(field.Path.of('fieldValidation'), validation, ['', 'Ignore', 'Strict', 'Warn']),
    )
  }
  const manager = query.get('fieldManager') ?? ''
  for (const error of validateFieldManager(manager, field.Path.of('fieldManager'))) errors.push(error)
  if (kind === 'PatchOptions' && query.has('force')) {
    errors.push(field.forbidden(field.Path.of('force'), 'may not be specified for non-apply patch'))
  }
  if (errors.length > 0) {
    const shown = kind === 'ApplyOptions' ? 'PatchOptions' : kind
    throw newInvalid({ group: 'meta.k8s.io', kind: shown }, '', errors)
  }
  return {
    dryRun: dryRun.length > 0,
    fieldValidation: (validation || 'Warn') as FieldValidation,
    fieldManager: manager || managerOf(getHeader(context.request.headers, 'user-agent') ?? ''),
    namedManager: manager !== '',
  }
}

function managerOf(userAgent: string): string {
  return userAgent.split('/', 1)[0]!.slice(0, longestManager) || 'unknown'
}

/** DeleteOptions, from the query or the body. */
export interface DeleteOptions {
  readonly dryRun: boolean
  readonly gracePeriodSeconds: number | undefined
  readonly propagationPolicy: 'Orphan' | 'Background' | 'Foreground' | undefined
  readonly preconditions: { readonly uid?: string; readonly resourceVersion?: string }
}

const policies = ['Foreground', 'Background', 'Orphan']

/** `given` is the decoded body, or the query in the same form. */
export function parseDeleteOptions(given: Readonly<Record<string, unknown>>): DeleteOptions {
  const errors = []
  const { dryRun, gracePeriodSeconds, orphanDependents, propagationPolicy, preconditions } = given
  const dry = Array.isArray(dryRun) ? dryRun : []
  if (dry.some(value => value !== 'All'))
    errors.push(field.notSupported(field.Path.of('dryRun'), dry, ['All']))
  if (propagationPolicy !== undefined && orphanDependents !== undefined) {
    errors.push(
      field.invalid(
        field.Path.of('propagationPolicy'),
        propagationPolicy,
        'orphanDependents and deletionPropagation cannot be both set',
      ),
    )
  }
  if (
    propagationPolicy !== undefined &&
    propagationPolicy !== null &&
    !policies.includes(propagationPolicy as string)
  ) {
    errors.push(
      field.notSupported(field.Path.of('propagationPolicy'), propagationPolicy, [...policies, 'nil']),
    )
  }
  if (typeof gracePeriodSeconds === 'number' && !Number.isInteger(gracePeriodSeconds)) {
    throw newBadRequest('gracePeriodSeconds is not a whole number')
  }
  if (errors.length > 0) throw newInvalid({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', errors)
  const orphan = orphanDependents === true ? 'Orphan' : orphanDependents === false ? 'Background' : undefined
  return {
    dryRun: dry.length > 0,
    gracePeriodSeconds: typeof gracePeriodSeconds === 'number' ? Math.max(0, gracePeriodSeconds) : undefined,
    propagationPolicy: (propagationPolicy as DeleteOptions['propagationPolicy']) ?? orphan,
    preconditions: (preconditions ?? {}) as DeleteOptions['preconditions'],
  }
}
