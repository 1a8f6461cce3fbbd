import { createFieldManager } from '../apply/field-manager.ts'
import { printJson } from '../go/print-value.ts'
import type { PlainObject } from '../json/plain.ts'
import { deepClone } from '../json/value.ts'
import type { Schema } from '../schema/schema.ts'
import { isStatusError } from '../status/status-error.ts'
import { readSchemas } from './fixtures.ts'

/** Writes by several managers, one after the other; each works on the object that the last good one left. */
export interface ApplyQuestion {
  readonly kind: string
  readonly steps: readonly ApplyStep[]
}

export interface ApplyStep {
  readonly op: 'apply' | 'update'
  readonly manager: string
  readonly apiVersion: string
  readonly force?: boolean
  readonly subresource?: string
  readonly object: PlainObject
}

export interface ApplyAnswer {
  readonly object?: PlainObject
  readonly error?: string
  readonly causes?: readonly string[]
}

let schemas: ReadonlyMap<string, Schema> | undefined

export function answerApply(question: ApplyQuestion): ApplyAnswer[] {
  let live: PlainObject | undefined
  return question.steps.map((step, index) => {
    const current = live === undefined ? undefined : convertThing(live, step.apiVersion)
    try {
      let next = runStep(question.kind, step, current, index)
      if (live === undefined) next = { ...next, metadata: { ...(next.metadata as PlainObject), uid: 'uid' } }
      live = next
      return { object: next }
    } catch (error) {
      if (!isStatusError(error)) throw error
      const causes = (error.status.details?.causes ?? [])
        .map(cause => `${cause.reason} ${cause.field} ${cause.message}`)
        .sort()
      return { error: error.message, ...(causes.length > 0 && { causes }) }
    }
  })
}

function runStep(kind: string, step: ApplyStep, live: PlainObject | undefined, index: number): PlainObject {
  const { apiVersion, manager, subresource = '', force = false } = step
  const fields = createFieldManager({
    apiVersion,
    kind,
    schema: schemaOf(kind, apiVersion)!,
    versions: { schemaOf: version => schemaOf(kind, version), convert: convertThing },
    resetFields: part => ({ reset: part === 'status' ? ['spec', 'metadata.labels'] : ['status'] }),
    now: () => `2024-01-01T00:00:${String(index).padStart(2, '0')}Z`,
  })
  const object = deepClone(step.object)
  return step.op === 'apply'
    ? fields.apply({ live, patch: object, manager, force, subresource })
    : fields.update({ live, next: object, manager, subresource })
}

/** The version of each kind; Thing has two. */
function schemaOf(kind: string, apiVersion: string): Schema | undefined {
  schemas ??= readSchemas()
  if (apiVersion === 'example.com/v2') return kind === 'Thing' ? schemas.get('Thing/v2') : undefined
  if (kind === 'Thing') return apiVersion === 'example.com/v1' ? schemas.get(kind) : undefined
  return apiVersion === versionOf(kind) ? schemas.get(kind) : undefined
}

export function versionOf(kind: string): string {
  if (kind === 'Thing') return 'example.com/v1'
  if (kind === 'Deployment') return 'apps/v1'
  return kind === 'Ingress' ? 'networking.k8s.io/v1' : 'v1'
}

const renames = [
  ['replicas', 'size'],
  ['tags', 'labels'],
] as const

/** Between the two versions of Thing, which differ in the names of two fields. */
export function convertThing(object: PlainObject, apiVersion: string): PlainObject | undefined {
  if (object.apiVersion === apiVersion) return object
  if (apiVersion !== 'example.com/v1' && apiVersion !== 'example.com/v2') return undefined
  const result: PlainObject = { ...object, apiVersion }
  if (typeof object.spec === 'object' && object.spec !== null) {
    const spec: PlainObject = { ...(object.spec as PlainObject) }
    for (const [v1, v2] of renames) {
      const [from, to] = apiVersion === 'example.com/v2' ? [v1, v2] : [v2, v1]
      if (!Object.hasOwn(spec, from)) continue
      spec[to] = spec[from]
      delete spec[from]
    }
    result.spec = spec
  }
  return result
}

/** Upstream has several answers where one depends on the order of a Go map. */
export function isSameApply(
  ours: readonly ApplyAnswer[],
  answers: readonly (readonly ApplyAnswer[])[],
): boolean {
  const text = printJson(ours)
  return answers.some(answer => printJson(answer) === text)
}
