import { isMachineryError } from '../errors.ts'
import type { PlainObject } from '../json/plain.ts'
import { createThreeWayMergePatch, createTwoWayMergePatch } from '../patch/strategic-diff.ts'
import { applyStrategicMergePatch } from '../patch/strategic-merge.ts'
import type { Schema } from '../schema/schema.ts'
import { readSchemas } from './fixtures.ts'

/** A patch to apply, or objects to make one of. */
export interface StrategicQuestion {
  readonly kind: string
  readonly op: 'apply' | 'two' | 'three'
  readonly original: PlainObject
  readonly patch?: PlainObject
  readonly modified?: PlainObject
  readonly current?: PlainObject
  readonly overwrite?: boolean
}

export interface StrategicAnswer {
  readonly ok?: PlainObject
  readonly error?: string
}

let schemas: ReadonlyMap<string, Schema> | undefined

export function answerStrategic(question: StrategicQuestion): StrategicAnswer {
  schemas ??= readSchemas()
  const { op, original, patch = {}, modified = {}, current = {}, overwrite = false } = question
  const schema = schemas.get(question.kind)!
  try {
    if (op === 'apply') return { ok: applyStrategicMergePatch(original, patch, schema) }
    if (op === 'two') return { ok: createTwoWayMergePatch(original, modified, schema) }
    return { ok: createThreeWayMergePatch(schema, { original, modified, current, overwrite }) }
  } catch (error) {
    if (!isMachineryError(error)) throw error
    return { error: error.code === 'PatchConflict' ? 'conflict' : error.message }
  }
}

/** Upstream has several answers where one depends on the order of a Go map, and none where it panics. */
export function isSameStrategic(ours: StrategicAnswer, answers: readonly StrategicAnswer[]): boolean {
  return answers.some(answer =>
    answer.error?.startsWith('panic: ') ? ours.error !== undefined : isSame(ours, answer),
  )
}

function isSame(left: unknown, right: unknown): boolean {
  return print(left) === print(right)
}

function print(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
}
