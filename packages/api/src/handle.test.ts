import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Deployment } from '@coxswain/api/apps/v1'
import { Container, Pod } from '@coxswain/api/core/v1'
import type { Kind } from '@coxswain/apimachinery/kinds'
import { allTables, builtinSchema } from './registry.ts'
import { builtinResources } from './resources/builtin-resources.ts'

describe('handles of built-in kinds', () => {
  it('agree with the resources, for every kind of every served version', async () => {
    for (const info of builtinResources()) {
      for (const version of info.versions) {
        const table = allTables().find(one => one.group === info.group && one.version === version.name)
        const path = `@coxswain/api/${table?.alias.replace('.', '/')}`
        const { [info.kind]: handle } = (await import(path)) as Record<string, Kind>
        assert.ok(handle, `${path} ${info.kind}`)
        const { schema, ...rest } = handle
        assert.deepEqual(rest, {
          group: info.group,
          version: version.name,
          kind: info.kind,
          listKind: info.listKind,
          resource: info.resource,
          singular: info.singular,
          namespaced: info.namespaced,
        })
        assert.equal(schema(), version.schema())
      }
    }
  })

  it('share their schemas with the types they are made of', () => {
    const template = Deployment.schema().properties?.spec?.properties?.template
    assert.equal(template?.properties?.spec, Pod.schema().properties?.spec)
    assert.equal(Container.schema(), builtinSchema(Container.name))
  })
})
