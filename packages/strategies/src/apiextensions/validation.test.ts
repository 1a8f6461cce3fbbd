import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as field from '@coxswain/apimachinery/field'
import type { JsonObject } from '@coxswain/apimachinery/json'
import { acceptNames, takenNames } from './conditions.ts'
import { unrecognizedFormats } from './formats.ts'
import { validateCrd } from './validation.ts'

const schema = { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object' } } } }
const version = (name: string, more: JsonObject = {}) => ({
  name,
  served: true,
  storage: true,
  schema,
  ...more,
})

function crd(spec: JsonObject = {}, more: JsonObject = {}): JsonObject {
  return {
    metadata: { name: 'things.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
      versions: [version('v1')],
      conversion: { strategy: 'None' },
      ...spec,
    },
    status: { storedVersions: ['v1'] },
    ...more,
  }
}

const established = { storedVersions: ['v1'], conditions: [{ type: 'Established', status: 'True' }] }
const problems = (object: JsonObject, old?: JsonObject) =>
  validateCrd(object, old).map(field.formatFieldError)
const fields = (object: JsonObject, old?: JsonObject) => validateCrd(object, old).map(error => error.field)

describe('validateCrd', () => {
  it('accepts a plain CRD', () => {
    assert.deepEqual(problems(crd()), [])
  })

  it('reports a version without a name once, and an invalid first one at the spec as well', () => {
    for (const name of ['', undefined]) {
      const nameless = crd({ versions: [{ ...version('v1'), name }] }, { status: {} })
      assert.deepEqual(
        fields(nameless).filter(path => path.startsWith('spec')),
        ['spec.versions[0].name'],
      )
    }
    assert.deepEqual(
      fields(crd({ versions: [version('V1')] })).filter(path => path.startsWith('spec')),
      ['spec.versions[0].name', 'spec.version'],
    )
  })

  it('reports members that all versions share at the spec, and others at the version', () => {
    const columns = [{ name: 'A', type: 'text', jsonPath: 'spec.a' }]
    const same = crd({ versions: [version('v1', { additionalPrinterColumns: columns })] })
    assert.deepEqual(fields(same), [
      'spec.additionalPrinterColumns[0].type',
      'spec.additionalPrinterColumns[0].JSONPath',
    ])
    const other = crd({
      versions: [version('v1'), version('v2', { storage: false, additionalPrinterColumns: columns })],
    })
    assert.deepEqual(fields(other), [
      'spec.versions[1].additionalPrinterColumns[0].type',
      'spec.versions[1].additionalPrinterColumns[0].JSONPath',
    ])
  })

  it('requires one storage version, and keeps versions that objects may be stored in', () => {
    const two = crd({ versions: [version('v1'), version('v2')] })
    assert.deepEqual(fields(two), ['spec.versions', 'status.storedVersions'])
    const dropped = crd({ versions: [version('v2')] }, { status: { storedVersions: ['v1', 'v2'] } })
    assert.match(problems(dropped, crd())[0]!, /^status\.storedVersions\[0\]: .*v1 was previously a storage/)
  })

  it('lets scope and kind change until the CRD is established', () => {
    const changed = crd({
      scope: 'Cluster',
      names: { plural: 'things', singular: 'thing', kind: 'Other', listKind: 'OtherList' },
    })
    assert.deepEqual(fields(changed, crd()), [])
    assert.deepEqual(fields(changed, crd({}, { status: established })), ['spec.scope', 'spec.names.kind'])
    assert.ok(fields(crd({ group: 'other.com' }), crd()).includes('spec.group'))
  })

  it('requires an approval for protected groups, unless it was missing before', () => {
    const names = { metadata: { name: 'things.x.k8s.io' } }
    const missing = crd({ group: 'x.k8s.io' }, names)
    const path = 'metadata.annotations[api-approved.kubernetes.io]'
    assert.deepEqual(fields(missing), [path])
    assert.deepEqual(fields(missing, missing), [])
    const approved = (annotation: string) =>
      crd(
        { group: 'x.k8s.io' },
        { metadata: { ...names.metadata, annotations: { 'api-approved.kubernetes.io': annotation } } },
      )
    assert.deepEqual(fields(approved('https://example.com/1')), [])
    assert.deepEqual(fields(approved('unapproved, experimental')), [])
    assert.deepEqual(fields(approved('yes')), [path])
  })

  it('validates the CA bundle only once the CRD is established', () => {
    const webhook = (caBundle: string) => ({
      strategy: 'Webhook',
      webhook: { clientConfig: { url: 'https://a.example', caBundle }, conversionReviewVersions: ['v1'] },
    })
    const bad = crd({ conversion: webhook('AAAA') })
    assert.deepEqual(fields(bad), [])
    assert.deepEqual(fields(bad, crd({}, { status: established })), [
      'spec.conversion.webhookClientConfig.caBundle',
    ])
    assert.deepEqual(fields(bad, crd({ conversion: webhook('AAAA') }, { status: established })), [])
  })

  it('follows selectable fields through the schema', () => {
    const withField = (jsonPath: string) =>
      problems(crd({ versions: [version('v1', { schema: typed, selectableFields: [{ jsonPath }] })] }))
    const typed = {
      openAPIV3Schema: {
        type: 'object',
        properties: {
          spec: { type: 'object', properties: { a: { type: 'string' }, n: { type: 'number' } } },
        },
      },
    }
    assert.deepEqual(withField('.spec.a'), [])
    assert.match(withField('.spec.n')[0]!, /must point to a field of type/)
    assert.match(withField('.spec.b')[0]!, /does not refer to a valid field/)
    assert.match(withField('.spec["a"]')[0]!, /array notation is not allowed/)
    assert.match(withField('spec.a')[0]!, /expected \[ or \. but got: spec/)
  })
})

describe('unrecognizedFormats', () => {
  const withFormat = (format: string, type = 'string') =>
    crd({ versions: [version('v1', { schema: { openAPIV3Schema: { type, format } } })] })

  it('knows formats by their type, and ignores those that were there before', () => {
    assert.deepEqual(unrecognizedFormats(withFormat('date-time'), undefined), [])
    assert.deepEqual(unrecognizedFormats(withFormat('int32', 'integer'), undefined), [])
    assert.deepEqual(unrecognizedFormats(withFormat('int32'), undefined), ['int32'])
    assert.deepEqual(unrecognizedFormats(withFormat('pony'), withFormat('pony')), [])
  })
})

describe('acceptNames', () => {
  const wanted = {
    plural: 'things',
    singular: 'thing',
    kind: 'Thing',
    listKind: 'ThingList',
    shortNames: ['th'],
  }

  it('accepts names that no other CRD holds', () => {
    const { accepted, condition } = acceptNames(wanted, {}, takenNames([{ plural: 'others', kind: 'Other' }]))
    assert.deepEqual(accepted, wanted)
    assert.equal(condition.status, 'True')
  })

  it('does not accept names that another CRD holds, and reports the last conflict', () => {
    const taken = takenNames([{ plural: 'th', kind: 'ThingList' }])
    const { accepted, condition } = acceptNames(wanted, {}, taken)
    assert.deepEqual(accepted, { plural: 'things', singular: 'thing', kind: 'Thing' })
    assert.deepEqual(
      [condition.status, condition.reason, condition.message],
      ['False', 'ListKindConflict', '"ThingList" is already in use'],
    )
  })

  it('keeps the names that the CRD holds', () => {
    const { condition } = acceptNames(wanted, wanted, takenNames([wanted]))
    assert.equal(condition.status, 'True')
  })
})
