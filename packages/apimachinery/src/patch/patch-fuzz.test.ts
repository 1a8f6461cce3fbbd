import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createSeededRandom, type Random } from '@coxswain/kit'
import { createFieldManager } from '../apply/field-manager.ts'
import { isMachineryError } from '../errors.ts'
import { isPlainObject, type PlainObject } from '../json/plain.ts'
import { deepEqual } from '../json/value.ts'
import { isStatusError } from '../status/status-error.ts'
import { readSchemas } from '../test-support/fixtures.ts'
import { applyJsonPatch, decodeJsonPatch } from './json-patch.ts'
import { applyMergePatch, createMergePatch, decodeMergePatch } from './merge-patch.ts'
import { createThreeWayMergePatch, createTwoWayMergePatch } from './strategic-diff.ts'
import { applyStrategicMergePatch, decodeStrategicMergePatch } from './strategic-merge.ts'

const runs = Number(process.env.TORTURE_RUNS ?? 1_500)
const seed = Number(process.env.TORTURE_SEED ?? 1)

const keys = [
  'a',
  'name',
  'spec',
  'metadata',
  'containers',
  'finalizers',
  'labels',
  'template',
  'ports',
  'managedFields',
  '__proto__',
  'constructor',
  'toString',
  '$patch',
  '$retainKeys',
  '$setElementOrder/containers',
  '$deleteFromPrimitiveList/finalizers',
  '',
  '0',
  '-',
]
const scalars = [
  null,
  true,
  0,
  1,
  -1,
  1.5,
  2n ** 60n,
  '',
  'a',
  'b',
  'delete',
  'replace',
  'merge',
  '__proto__',
]
const paths = [
  '',
  '/',
  '/a',
  '/a/b',
  '/spec/containers/-',
  '/spec/containers/0',
  '/__proto__/x',
  '/a/-1',
  'x/y',
  '/~1~0',
]

function pick<T>(random: Random, list: readonly T[]): T {
  return list[random.below(list.length)]!
}

function value(random: Random, depth: number): unknown {
  const kind = depth <= 0 ? 0 : random.below(4)
  if (kind === 0) return pick(random, scalars)
  if (kind === 1) return Array.from({ length: random.below(4) }, () => value(random, depth - 1))
  return object(random, depth)
}

function object(random: Random, depth: number): PlainObject {
  const entries = Array.from({ length: random.below(5) }, () => [
    pick(random, keys),
    value(random, depth - 1),
  ])
  return Object.fromEntries(entries) as PlainObject
}

function operations(random: Random): unknown {
  if (random.below(20) === 0) return value(random, 2)
  return Array.from({ length: random.below(6) }, () => ({
    op: pick(random, ['add', 'remove', 'replace', 'move', 'copy', 'test', 'odd']),
    path: pick(random, paths),
    from: pick(random, paths),
    ...(random.below(3) > 0 && { value: value(random, 2) }),
  }))
}

/** Runs a function that may reject its input, but may not fail otherwise. */
function attempt<T>(context: string, call: () => T): T | undefined {
  try {
    return call()
  } catch (error) {
    if (isMachineryError(error) || isStatusError(error)) return undefined
    throw new Error(context, { cause: error })
  }
}

function print(item: unknown): string {
  return JSON.stringify(item, (_key, inner: unknown) => (typeof inner === 'bigint' ? `${inner}n` : inner))
}

function withoutNulls(item: unknown): boolean {
  return item !== null && (typeof item !== 'object' || Object.values(item).every(withoutNulls))
}

describe('patches, on generated values', () => {
  const schema = readSchemas().get('Pod')!
  const prototype = Object.getOwnPropertyNames(Object.prototype).join()
  const fields = createFieldManager({
    apiVersion: 'v1',
    kind: 'Pod',
    schema,
    now: () => '2024-01-01T00:00:00Z',
  })

  it('are applied or rejected, change no input and reach no prototype', () => {
    for (let i = 0; i < runs; i++) {
      const random = createSeededRandom(seed + i)
      const [original, patch, current] = [object(random, 4), object(random, 4), object(random, 4)]
      const steps = operations(random)
      const pod = { ...patch, apiVersion: 'v1', kind: 'Pod' }
      const before = print([original, patch, current, steps])
      const context = `seed ${seed + i}: ${before}`
      attempt(context, () => applyJsonPatch(original, decodeJsonPatch(steps)))
      attempt(context, () => applyMergePatch(original, decodeMergePatch(patch)))
      attempt(context, () => applyStrategicMergePatch(original, decodeStrategicMergePatch(patch), schema))
      attempt(context, () => createTwoWayMergePatch(original, patch, schema))
      attempt(context, () =>
        createThreeWayMergePatch(schema, { original, modified: patch, current, overwrite: i % 2 === 0 }),
      )
      attempt(context, () => fields.update({ live: original, next: patch, manager: 'm' }))
      attempt(context, () => fields.apply({ live: original, patch: pod, manager: 'm', force: i % 2 === 0 }))
      assert.equal(print([original, patch, current, steps]), before, context)
    }
    assert.equal(Object.getOwnPropertyNames(Object.prototype).join(), prototype)
    assert.equal(({} as PlainObject).x, undefined)
  })

  it('made of two objects lead from one to the other', () => {
    for (let i = 0; i < runs; i++) {
      const random = createSeededRandom(seed + i)
      const [original, modified] = [object(random, 3), object(random, 3)]
      if (!withoutNulls(modified)) continue
      const result = applyMergePatch(original, createMergePatch(original, modified))
      assert.ok(isPlainObject(result) && deepEqual(result, modified), `seed ${seed + i}`)
    }
  })
})
