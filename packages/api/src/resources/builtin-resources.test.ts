import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Schema } from '@coxswain/apimachinery/schema'
import { builtinSchema } from '../registry.ts'
import { readFixture } from '../test-support/fixture.ts'
import { aboutKind, builtinResources } from './builtin-resources.ts'

type Column = { name: string; type: string; format: string; priority: number }

function find(group: string, resource: string): ReturnType<typeof builtinResources>[number] {
  const info = builtinResources().find(one => one.group === group && one.resource === resource)
  assert.ok(info, `${group}/${resource}`)
  return info
}

describe('built-in resources', () => {
  it('have the columns that a real server shows', () => {
    const golden = readFixture('columns.json.br') as Record<string, Column[]>
    for (const [name, columns] of Object.entries(golden)) {
      const [group = '', version, resource = ''] = name.split('_')
      const info = find(group === 'core' ? '' : group, resource)
      const actual = info.versions.find(one => one.name === version)?.columns
      assert.deepEqual(
        actual?.map(column => ({ format: '', ...column })),
        columns,
        name,
      )
    }
    assert.ok(Object.keys(golden).length > 50)
  })

  it('have exactly one storage version each, the preferred one', () => {
    for (const { versions } of builtinResources()) {
      assert.deepEqual(
        versions.map(version => version.storage),
        versions.map((_, i) => i === 0),
      )
    }
  })

  it('are described in a sentence each', () => {
    for (const { group, kind } of builtinResources()) {
      assert.match(aboutKind(group, kind) ?? '', /^[A-Z].*\.$/, kind)
    }
  })

  it('select by the fields that upstream converts', () => {
    assert.ok(find('', 'pods').versions[0]?.selectableFields.includes('spec.nodeName'))
    assert.deepEqual(find('', 'nodes').versions[0]?.selectableFields, ['spec.unschedulable'])
    assert.deepEqual(find('apps', 'deployments').versions[0]?.selectableFields, [])
  })

  it('give subresources the kinds they speak', () => {
    const scale = find('apps', 'deployments').versions[0]?.subresources.find(one => one.name === 'scale')
    const verbs = ['get', 'patch', 'update']
    assert.deepEqual(scale, { name: 'scale', verbs, group: 'autoscaling', version: 'v1', kind: 'Scale' })
  })
})

describe('built-in schemas', () => {
  const deployment = find('apps', 'deployments').versions[0]?.schema() as Schema
  const podSpec = builtinSchema('io.k8s.api.core.v1.PodSpec') as Schema

  it('are one node a type, wherever it is used', () => {
    const template = deployment.properties?.spec?.properties?.template
    assert.equal(template?.properties?.spec, podSpec)
    assert.equal(podSpec.name, 'io.k8s.api.core.v1.PodSpec')
    assert.equal(podSpec.properties?.containers?.items, builtinSchema('io.k8s.api.core.v1.Container'))
  })

  it('carry what validation, patches and applies need', () => {
    const { containers, restartPolicy } = podSpec.properties ?? {}
    assert.deepEqual(podSpec.required, ['containers'])
    assert.equal(containers?.['x-kubernetes-list-type'], 'map')
    assert.deepEqual(containers?.['x-kubernetes-list-map-keys'], ['name'])
    assert.equal(containers?.['x-kubernetes-patch-strategy'], 'merge')
    assert.equal(containers?.['x-kubernetes-patch-merge-key'], 'name')
    assert.deepEqual(restartPolicy?.enum, ['Always', 'Never', 'OnFailure'])
    const strategy = deployment.properties?.spec?.properties?.strategy
    assert.equal(strategy?.['x-kubernetes-patch-strategy'], 'retainKeys')
    assert.ok(strategy?.properties?.rollingUpdate)
    const selector = builtinSchema('io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector')
    assert.equal(selector?.['x-kubernetes-map-type'], 'atomic')
  })

  it('have defaults where they mean something, and not the zero values upstream derives', () => {
    const port = builtinSchema('io.k8s.api.core.v1.ContainerPort')
    assert.equal(port?.properties?.protocol?.default, 'TCP')
    const name = builtinSchema('io.k8s.api.core.v1.Container')?.properties?.name as Schema
    assert.equal('default' in name, false)
    assert.equal('default' in (podSpec.properties?.containers?.items ?? {}), false)
  })

  it('have the JSON forms of types that are messages in protobuf', () => {
    const action = builtinSchema('io.k8s.api.core.v1.HTTPGetAction')
    assert.equal(action?.properties?.port?.['x-kubernetes-int-or-string'], true)
    const limits = builtinSchema('io.k8s.api.core.v1.ResourceRequirements')?.properties?.limits
    assert.equal(limits?.additionalProperties, builtinSchema('io.k8s.apimachinery.pkg.api.resource.Quantity'))
    const data = builtinSchema('io.k8s.api.core.v1.Secret')?.properties?.data
    assert.deepEqual(data?.additionalProperties, { type: 'string', format: 'byte' })
    const meta = builtinSchema('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta')
    assert.equal(meta?.properties?.creationTimestamp?.format, 'date-time')
    assert.equal(builtinSchema('io.k8s.api.core.v1.Volume')?.properties?.emptyDir?.type, 'object') // inlined
  })

  it('are cycles where a type contains itself', () => {
    const props = builtinSchema('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps')
    assert.equal(props?.properties?.not, props)
    assert.equal(props?.properties?.properties?.additionalProperties, props)
  })

  it('are complete: no node refers to a type that was not yet made', () => {
    const seen = new Set<Schema>()
    const visit = (schema: Schema): void => {
      if (seen.has(schema)) return
      seen.add(schema)
      if (schema.type === 'object' && schema.name?.startsWith('io.k8s.api.'))
        assert.ok(schema.properties, schema.name)
      for (const child of Object.values(schema.properties ?? {})) visit(child)
      if (schema.items) visit(schema.items)
      if (typeof schema.additionalProperties === 'object') visit(schema.additionalProperties)
    }
    for (const { versions } of builtinResources()) for (const version of versions) visit(version.schema())
    assert.ok(seen.size > 500, `${seen.size} nodes`)
  })

  it('are undefined for unknown names', () => {
    for (const name of ['', 'Pod', 'io.k8s.api.core.v1.Nothing', 'io.k8s.api.core.v9.Pod', 'toString']) {
      assert.equal(builtinSchema(name), undefined, name)
    }
  })
})
