/** Cases for server-side apply: a few managers apply and update an object in turn. */
import type { Random } from '@coxswain/kit'
import { typeNodeOf } from '../../packages/apimachinery/src/apply/type-node.ts'
import { validateTyped } from '../../packages/apimachinery/src/apply/typed-walk.ts'
import type { Schema } from '../../packages/apimachinery/src/schema/schema.ts'
import {
  type ApplyQuestion,
  type ApplyStep,
  answerApply,
  convertThing,
  versionOf,
} from '../../packages/apimachinery/src/test-support/answer-apply.ts'
import { chance, type Json, mutated, pick, randomObject } from './objects.ts'

export function applyCases(
  random: Random,
  count: number,
  schemas: ReadonlyMap<string, Schema>,
): ApplyQuestion[] {
  const kinds = [...schemas.keys()].filter(kind => kind !== 'Thing/v2')
  return Array.from({ length: count }, (_, i) => {
    if (i % 100 === 99) return manyManagers(random, schemas)
    const kind = chance(random, 0.5) ? 'Thing' : pick(random, kinds)
    return JSON.parse(JSON.stringify(sequence(random, kind, schemas))) as ApplyQuestion
  })
}

function sequence(random: Random, kind: string, schemas: ReadonlyMap<string, Schema>): ApplyQuestion {
  const isVersioned = kind === 'Thing' && chance(random, 0.3)
  const steps: ApplyStep[] = []
  const configs = new Map<string, Json>()
  const rate = pick(random, [0.1, 0.25, 0.5])
  let live: Json | undefined
  const length = 2 + random.below(5)
  while (steps.length < length) {
    const apiVersion = isVersioned && chance(random, 0.5) ? 'example.com/v2' : versionOf(kind)
    const schema = schemas.get(apiVersion === 'example.com/v2' ? 'Thing/v2' : kind)!
    if (live !== undefined) live = convertThing(live, apiVersion)!
    const manager = pick(random, ['alice', 'bob', 'carol', 'kubectl'])
    const subresource = chance(random, 0.1) ? 'status' : ''
    let step: ApplyStep
    if (live === undefined ? chance(random, 0.5) : chance(random, 0.55)) {
      const last = configs.get(`${manager}/${apiVersion}`)
      const from = last ?? (chance(random, 0.6) && live !== undefined ? partOf(live) : undefined)
      const object = named(kind, apiVersion, {
        ...(from === undefined
          ? randomObject(random, schema, 4)
          : (mutated(random, from, schema, rate) as Json)),
      })
      configs.set(`${manager}/${apiVersion}`, object)
      step = { op: 'apply', manager, apiVersion, force: chance(random, 0.3), subresource, object }
    } else {
      const from =
        live === undefined ? randomObject(random, schema, 4) : mutated(random, live, schema, rate * 0.6)
      const object = named(kind, apiVersion, from as Json)
      if (live !== undefined) keepMeta(random, live, object)
      if (chance(random, 0.05)) annotate(object)
      step = { op: 'update', manager, apiVersion, subresource, object }
    }
    const plain = JSON.parse(JSON.stringify(step)) as ApplyStep
    if (plain.op === 'update' && !fits(plain.object, schema, !isVersioned)) continue
    steps.push(plain)
    const answers = answerApply({ kind, steps })
    const last = answers.at(-1)?.object
    if (last !== undefined) live = JSON.parse(JSON.stringify(last)) as Json
  }
  return { kind, steps }
}

/**
 * Upstream forgets all managers of an object without keys, and of one with duplicates when it has to convert it:
 * there is nothing to agree on.
 */
function fits(object: Json, schema: Schema, allowDuplicates: boolean): boolean {
  try {
    validateTyped(object, typeNodeOf(schema))
    return true
  } catch (error) {
    return allowDuplicates && error instanceof Error && !error.message.includes('omits all key fields')
  }
}

function named(kind: string, apiVersion: string, object: Json): Json {
  const metadata = { ...(object.metadata as Json | undefined), name: 'x' }
  return { ...object, apiVersion, kind, metadata }
}

/** A client's idea of an object it read: without what the server keeps. */
function partOf(live: Json): Json {
  const { managedFields: _managedFields, uid: _uid, ...metadata } = live.metadata as Json
  return { ...live, metadata }
}

function keepMeta(random: Random, live: Json, object: Json): void {
  const metadata = object.metadata as Json
  const before = live.metadata as Json
  metadata.uid = before.uid
  delete metadata.managedFields
  if (chance(random, 0.6) && before.managedFields !== undefined) metadata.managedFields = before.managedFields
  if (chance(random, 0.03))
    metadata.managedFields = pick<unknown>(random, [[], [{}], null, [{ manager: 'x' }]])
}

/** What client-side apply leaves behind. */
function annotate(object: Json): void {
  const metadata = object.metadata as Json
  const { annotations: _annotations, managedFields: _managedFields, uid: _uid, ...rest } = metadata
  const text = `${JSON.stringify({ ...object, metadata: rest })}\n`
  metadata.annotations = { 'kubectl.kubernetes.io/last-applied-configuration': text }
}

/** More updaters than are kept apart. */
function manyManagers(random: Random, schemas: ReadonlyMap<string, Schema>): ApplyQuestion {
  const steps: ApplyStep[] = []
  const schema = schemas.get('ConfigMap')!
  const data: Json = {}
  for (let i = 0; i < 16; i++) {
    data[pick(random, ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'])] = String(i)
    data[`m${i}`] = 'x'
    const extra = chance(random, 0.2) ? randomObject(random, schema, 2) : {}
    const object = named('ConfigMap', 'v1', { ...extra, data: { ...data } })
    const metadata = { ...(object.metadata as Json), uid: 'uid' }
    steps.push({
      op: chance(random, 0.85) ? 'update' : 'apply',
      manager: `manager-${random.below(20)}`,
      apiVersion: 'v1',
      force: true,
      subresource: '',
      object: { ...object, metadata: i === 0 ? object.metadata : metadata },
    })
  }
  return JSON.parse(JSON.stringify({ kind: 'ConfigMap', steps })) as ApplyQuestion
}
