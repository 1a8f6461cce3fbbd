import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isMachineryError } from '@coxswain/apimachinery/errors'
import { frame, readFrames } from '@coxswain/apimachinery/protobuf'
import { builtinProtobuf } from './protobuf.ts'
import { allTables } from './registry.ts'
import { rowOf, type TypeExpression, type TypeRow } from './table/table.ts'
import { readFixture } from './test-support/fixture.ts'
import { kindsOf, randomObjects } from './test-support/sample.ts'

interface Sample {
  readonly name: string
  readonly json: Record<string, unknown>
  readonly protobuf: string
}

const samples = readFixture('protobuf.json.br') as readonly Sample[]

describe("protobuf that upstream's encoder wrote", () => {
  it('is there for every kind', () => {
    assert.equal(samples.length, 189)
  })

  for (const { name, json, protobuf } of samples) {
    const bytes = Buffer.from(protobuf, 'base64')
    if (name === 'core.v1.WatchEvent') continue

    it(`is read as the JSON of ${name}, and that JSON is written as the same bytes`, () => {
      assert.deepEqual(builtinProtobuf.decode(bytes), json)
      assert.deepEqual(Buffer.from(builtinProtobuf.encode(json)), bytes)
    })
  }

  it('is read by the kind the caller expects when the envelope names none', () => {
    const sample = samples.find(({ name }) => name === 'core.v1.WatchEvent')
    const head = { apiVersion: 'v1', kind: 'WatchEvent' }
    const event = builtinProtobuf.decode(Buffer.from(sample?.protobuf ?? '', 'base64'), head)
    assert.deepEqual(event, { ...head, ...sample?.json })
  })
})

describe('protobuf of objects with every field set', () => {
  const kinds = allTables().flatMap(kindsOf)

  it('covers the kinds of all groups', () => {
    assert.ok(kinds.length > 300, `${kinds.length}`)
  })

  it('comes back as the same JSON for every kind', () => {
    for (const row of kinds) {
      const { group, version } = row.table
      const apiVersion = group === '' ? version : `${group}/${version}`
      const object = { apiVersion, kind: row.short, ...sampleOf(row, 0) }
      assert.deepEqual(builtinProtobuf.decode(builtinProtobuf.encode(object)), object, row.name)
    }
  })
})

/** An object with every field of the type set; types that contain themselves end after a few levels. */
function sampleOf(row: TypeRow, depth: number): Record<string, unknown> {
  const object: Record<string, unknown> = {}
  for (const field of row.fields) {
    // An embedded apiVersion and kind are in no protobuf message.
    if (field.number === 0) continue
    if (depth > 6 && isOptional(field.type)) {
      if (field.omit === 'never') object[field.json] = null
    } else if (field.json !== '') object[field.json] = sampleValue(field.type, field.json, depth)
    else if (field.type.form === 'ref') Object.assign(object, sampleOf(rowOf(field.type), depth))
  }
  return object
}

function isOptional(type: TypeExpression): boolean {
  return type.form === 'list' || type.form === 'map' || type.pointer
}

function sampleValue(type: TypeExpression, name: string, depth: number): unknown {
  switch (type.form) {
    case 'list':
      return [sampleValue(type.element, name, depth + 1), sampleValue(type.element, `${name}-2`, depth + 1)]
    case 'map':
      return { b: sampleValue(type.element, name, depth + 1), a: sampleValue(type.element, 'é', depth + 1) }
    case 'basic':
      return basics[type.basic]?.(name)
    case 'special':
      return specials[type.special]
    case 'ref': {
      const row = rowOf(type)
      if (row.isSpecial)
        return row.short === 'JSONSchemaPropsOrBool' ? false : ['x', 'y'].map(title => unionOf(row, title))
      return sampleOf(row, depth + 1)
    }
  }
}

function unionOf(row: TypeRow, title: string): unknown {
  return row.short === 'JSONSchemaPropsOrArray' ? { title } : title
}

const basics: Readonly<Record<string, (name: string) => unknown>> = {
  string: name => `value of ${name}`,
  bool: () => true,
  int32: name => (name.length % 2 ? -7 : 2 ** 31 - 1),
  int64: name => (name.length % 2 ? -(2n ** 63n) : 2 ** 53 - 1),
  float64: () => -1.5,
  bytes: () => 'AAEC/w==',
  any: () => ({ any: [1, null] }),
}

const specials: Readonly<Record<string, unknown>> = {
  time: '1969-12-31T23:59:59Z',
  microtime: '2024-02-29T12:00:00.000120Z',
  quantity: '1500m',
  intstr: '25%',
  raw: { apiVersion: 'example.com/v1', kind: 'Thing', big: 9007199254740993n },
  fields: { 'f:metadata': { 'f:labels': { '.': {} } } },
}

describe('protobuf of objects with some of their fields set', () => {
  const answers = readFixture('protobuf-random.json.br') as readonly { json: object; protobuf: string }[]

  it('is written and read as upstream does, zero values and all', () => {
    const objects = randomObjects()
    assert.equal(objects.length, answers.length)
    for (const [i, object] of objects.entries()) {
      const bytes = Buffer.from(answers[i]?.protobuf ?? '', 'base64')
      const name = `${i}: ${object.apiVersion} ${object.kind}`
      assert.ok(Buffer.from(builtinProtobuf.encode(object)).equals(bytes), name)
      assert.deepEqual(builtinProtobuf.decode(bytes), answers[i]?.json, name)
    }
  })
})

describe('protobuf codec', () => {
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web' },
    spec: { containers: null },
    status: {},
  }

  it('gives a minimal object the members that Go never leaves out', () => {
    const bytes = builtinProtobuf.encode({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web' } })
    assert.deepEqual(builtinProtobuf.decode(bytes), pod)
  })

  it('writes a zero time as null where a struct is never left out', () => {
    const condition = { type: 'Ready', status: 'True' }
    const object = { ...pod, status: { conditions: [condition] } }
    const decoded = builtinProtobuf.decode(builtinProtobuf.encode(object))
    assert.deepEqual(decoded.status, {
      conditions: [{ ...condition, lastProbeTime: null, lastTransitionTime: null }],
    })
  })

  it('has no form for custom resources and for kinds that are not registered', () => {
    assert.equal(builtinProtobuf.supports('v1', 'Pod'), true)
    assert.equal(builtinProtobuf.supports('v1', 'PodSpec'), false)
    assert.equal(builtinProtobuf.supports('example.com/v1', 'Widget'), false)
    assert.equal(builtinProtobuf.supports('apps/v1', 'DeleteOptions'), true)
    assert.throws(
      () => builtinProtobuf.encode({ apiVersion: 'example.com/v1', kind: 'Widget' }),
      error => isMachineryError(error, 'BadProtobuf'),
    )
  })

  it('passes over fields it does not know', () => {
    const bytes = builtinProtobuf.encode(pod)
    // Field 100 of the envelope in each wire type: varint, fixed64, bytes, group, fixed32.
    const unknown = [0xa0, 6, 1, 0xa1, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0xa2, 6, 1, 0, 0xa3, 6, 8, 1, 0xa4, 6]
    const more = Uint8Array.of(...bytes, ...unknown, 0xa5, 6, 0, 0, 0, 0)
    assert.deepEqual(builtinProtobuf.decode(more), pod)
  })

  it('refuses what is no protobuf, at whatever byte it ends', () => {
    const bytes = builtinProtobuf.encode({ ...pod, metadata: { name: 'web', labels: { a: 'b' } } })
    assert.throws(
      () => builtinProtobuf.decode(Buffer.from('{"kind":"Pod"}')),
      /expected prefix \[107 56 115 0\]/,
    )
    for (let end = 4; end < bytes.length - 4; end++) {
      try {
        builtinProtobuf.decode(bytes.subarray(0, end))
      } catch (error) {
        assert.ok(isMachineryError(error, 'BadProtobuf'), `${end}: ${error}`)
      }
    }
  })

  it('names the field whose value is of the wrong type', () => {
    const object = { ...pod, spec: { containers: [{ name: 7 }] } }
    assert.throws(
      () => builtinProtobuf.encode(object),
      /core\.v1\.Container\.name: expected string, found number/,
    )
  })

  it('refuses a message nested deeper than any schema is', () => {
    let schema: Record<string, unknown> = {}
    for (let depth = 0; depth < 1100; depth++) schema = { not: schema }
    const validation = { openAPIV3Schema: schema }
    const crd = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      spec: { versions: [{ schema: validation }] },
    }
    assert.throws(
      () => builtinProtobuf.encode(crd),
      error => isMachineryError(error, 'BadProtobuf'),
    )
  })
})

describe('protobuf watches', () => {
  const event = {
    type: 'ADDED',
    object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { k: 'v' } },
  }

  it('carry their object enveloped and come back whole', () => {
    const bytes = builtinProtobuf.encodeWatchEvent(event)
    assert.deepEqual(builtinProtobuf.decodeWatchEvent(bytes), event)
  })

  it('are cut into frames wherever the chunks end', async () => {
    const framed = frame(builtinProtobuf.encodeWatchEvent(event))
    const stream = Uint8Array.of(...framed, ...framed, ...framed)
    for (const size of [1, 3, 7, framed.length, framed.length + 2, stream.length]) {
      const events = []
      for await (const one of readFrames(chunksOf(stream, size)))
        events.push(builtinProtobuf.decodeWatchEvent(one))
      assert.deepEqual(events, [event, event, event], `chunks of ${size}`)
    }
  })

  it('fail when the stream ends inside of a frame', async () => {
    const framed = frame(builtinProtobuf.encodeWatchEvent(event))
    await assert.rejects(async () => {
      for await (const _ of readFrames(chunksOf(framed.subarray(0, 20), 20)));
    }, /unexpected EOF/)
  })
})

async function* chunksOf(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}
