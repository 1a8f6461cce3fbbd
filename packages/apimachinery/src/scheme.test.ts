import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Kind } from './kind.ts'
import { Scheme } from './scheme.ts'

function kind(group: string, version: string, name: string, resource = `${name.toLowerCase()}s`): Kind {
  return {
    group,
    version,
    kind: name,
    listKind: `${name}List`,
    resource,
    singular: name.toLowerCase(),
    namespaced: true,
    schema: () => ({}),
  }
}

const at = (version: string) => ({ group: 'example.com', version, kind: 'Widget' })

describe('Scheme', () => {
  it('knows what was registered', () => {
    const widget = kind('example.com', 'v1', 'Widget')
    const scheme = new Scheme('test').register(widget)
    assert.equal(scheme.kindOf(at('v1')), widget)
    assert.ok(!scheme.recognizes(at('v2')))
    assert.throws(() => scheme.kindOf(at('v2')), {
      message: 'no kind "Widget" is registered for version "example.com/v2" in scheme "test"',
      code: 'KindNotRegistered',
    })
  })

  it('takes the same kind twice, and refuses two kinds of one name, naming both', () => {
    const widget = kind('example.com', 'v1', 'Widget')
    const scheme = new Scheme('test').register(widget).register(widget)
    assert.throws(() => scheme.register(kind('example.com', 'v1', 'Widget', 'widgetz')), {
      code: 'KindConflict',
      message:
        /^Double registration .* example\.com\/v1, Kind=Widget: old=widgets\.example\.com \(.*\), new=widgetz\.example\.com \(.*\) in scheme "test"$/,
    })
    assert.equal(scheme.kindOf(at('v1')), widget)
  })

  it('prefers versions as told, then in the order of Kubernetes', () => {
    const scheme = new Scheme('test')
    for (const version of ['v1alpha1', 'v1beta1', 'v1', 'v2'])
      scheme.register(kind('example.com', version, 'Widget'))
    const versions = () => scheme.versionsOf(at('v1')).map(({ version }) => version)
    assert.deepEqual(versions(), ['v2', 'v1', 'v1beta1', 'v1alpha1'])
    scheme.setVersionPriority('example.com', ['v1', 'v9'])
    assert.deepEqual(versions(), ['v1', 'v2', 'v1beta1', 'v1alpha1'])
  })

  it('recognises unversioned kinds in every version', () => {
    const scheme = new Scheme('test').registerUnversioned(kind('', 'v1', 'Status', ''))
    assert.ok(scheme.recognizes({ group: 'apps', version: 'v7', kind: 'Status' }))
    const status = { apiVersion: 'v1', kind: 'Status' }
    assert.deepEqual(scheme.convert(status, 'v9'), status)
  })

  it('converts by the shortest chain of functions, and leaves the object alone', () => {
    const scheme = new Scheme('test')
    for (const version of ['v1', 'v2', 'v3', 'v4']) scheme.register(kind('example.com', version, 'Widget'))
    const trail = (step: string) => (object: Record<string, unknown>) => ({
      ...object,
      trail: [...((object.trail as string[] | undefined) ?? []), step],
    })
    scheme
      .addConversion(at(''), 'v1', 'v2', trail('1-2'))
      .addConversion(at(''), 'v2', 'v3', trail('2-3'))
      .addConversion(at(''), 'v1', 'v3', trail('1-3'))
      .addConversion(at(''), 'v3', 'v2', trail('3-2'))
    const object = Object.freeze({ apiVersion: 'example.com/v1', kind: 'Widget' })
    assert.deepEqual(scheme.convert(object, 'v3'), {
      apiVersion: 'example.com/v3',
      kind: 'Widget',
      trail: ['1-3'],
    })
    scheme.addConversion(at(''), 'v3', 'v4', trail('3-4'))
    assert.deepEqual(scheme.convert(object, 'v4').trail, ['1-3', '3-4'])
    assert.throws(() => scheme.convert({ ...object, apiVersion: 'example.com/v4' }, 'v1'), {
      code: 'ConversionMissing',
      message: /"example\.com\/v4" is not suitable for converting to "example\.com\/v1" in scheme "test"/,
    })
  })

  it('fills in defaults in the order of registration, on a copy', () => {
    const scheme = new Scheme('test').addDefaulting(at('v1'), object => {
      object.replicas ??= 1
    })
    scheme.addDefaulting(at('v1'), object => {
      object.surge ??= object.replicas
    })
    const object = { apiVersion: 'example.com/v1', kind: 'Widget' }
    assert.deepEqual(scheme.default(object), { ...object, replicas: 1, surge: 1 })
    assert.deepEqual(Object.keys(object), ['apiVersion', 'kind'])
  })

  it('lets field selectors name metadata, and what a kind adds', () => {
    const scheme = new Scheme('test')
    assert.deepEqual(scheme.convertFieldLabel(at('v1'), 'metadata.name', 'x'), ['metadata.name', 'x'])
    assert.throws(() => scheme.convertFieldLabel(at('v1'), 'spec.host', 'x'), {
      message: '"spec.host" is not a known field selector: only "metadata.name", "metadata.namespace"',
      code: 'FieldLabelNotSupported',
    })
    scheme.addFieldLabelConversion(at('v1'), (label, value) => [
      label === 'spec.host' ? 'spec.node' : label,
      value,
    ])
    assert.deepEqual(scheme.convertFieldLabel(at('v1'), 'spec.host', 'x'), ['spec.node', 'x'])
  })

  it('gives a mapper that prefers its preferred versions', () => {
    const scheme = new Scheme('test').register(
      kind('example.com', 'v1', 'Widget'),
      kind('example.com', 'v2', 'Widget'),
    )
    assert.equal(scheme.restMapper().kindFor({ resource: 'widgets' }).version, 'v2')
  })
})
