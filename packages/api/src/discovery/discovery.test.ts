import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, it } from 'node:test'
import type { ResourceInfo } from '@coxswain/apimachinery/kinds'
import { sha256 } from '@coxswain/kit'
import { builtinResources } from '../resources/builtin-resources.ts'
import { servedGroups } from '../served-groups.ts'
import { readFixture } from '../test-support/fixture.ts'
import { aggregatedDiscovery } from './aggregated.ts'
import { apiGroup, apiGroupList, apiResourceList, apiVersions } from './legacy.ts'

const golden = readFixture('discovery.json.br') as Record<string, Record<string, unknown>>

const widgets: ResourceInfo = {
  group: 'example.com',
  resource: 'widgets',
  singular: 'widget',
  kind: 'Widget',
  listKind: 'WidgetList',
  shortNames: ['wd'],
  categories: [],
  namespaced: true,
  versions: ['v1beta1', 'v1', 'v2alpha1'].map(name => ({
    name,
    served: name !== 'v2alpha1',
    storage: name === 'v1',
    verbs: ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'],
    schema: () => ({ type: 'object' }),
    columns: [],
    selectableFields: [],
    subresources: [
      { name: 'status', verbs: ['get', 'patch', 'update'] },
      {
        name: 'scale',
        verbs: ['get', 'patch', 'update'],
        group: 'autoscaling',
        version: 'v1',
        kind: 'Scale',
      },
    ],
  })),
}

describe('discovery of the built-in kinds', () => {
  const resources = builtinResources()

  it('lists the groups as a real server does', () => {
    assert.deepEqual(apiGroupList(servedGroups(resources)), golden.apis)
    assert.deepEqual(apiVersions('<address>'), golden.api)
  })

  it('describes every group and every version as a real server does', () => {
    const names = Object.keys(golden).filter(name => /^(apis?_)/.test(name))
    for (const name of names) {
      const [root, first = '', second] = name.split('_')
      const actual =
        root === 'api'
          ? apiResourceList(resources, '', first)
          : second === undefined
            ? apiGroup(servedGroups(resources), first)
            : apiResourceList(resources, first, second)
      assert.deepEqual(actual, golden[name], name)
    }
    assert.equal(names.length, 42)
  })

  it('aggregates as a real server does', () => {
    assert.deepEqual(aggregatedDiscovery(resources, 'core'), golden.aggregated_api)
    assert.deepEqual(aggregatedDiscovery(resources, 'named'), golden.aggregated_apis)
  })

  it('knows nothing of groups and versions that are not served', () => {
    assert.equal(apiGroup(servedGroups(resources), 'example.com'), undefined)
    assert.equal(apiGroup(servedGroups(resources), ''), undefined)
    assert.equal(apiResourceList(resources, 'apps', 'v1beta1'), undefined)
  })
})

describe('discovery of custom resources', () => {
  const resources = [widgets, ...builtinResources()]

  it('puts their groups behind the built-in ones, the preferred version first', () => {
    assert.deepEqual(apiGroupList(servedGroups(resources)).groups.at(-1), {
      name: 'example.com',
      versions: [
        { groupVersion: 'example.com/v1', version: 'v1' },
        { groupVersion: 'example.com/v1beta1', version: 'v1beta1' },
      ],
      preferredVersion: { groupVersion: 'example.com/v1', version: 'v1' },
    })
  })

  it('gives every version the hash of the stored one, and subresources their kinds', () => {
    const hash = createHash('sha256')
      .update('example.com/v1/Widget')
      .digest()
      .subarray(0, 8)
      .toString('base64')
    assert.deepEqual(apiResourceList(resources, 'example.com', 'v1beta1'), {
      kind: 'APIResourceList',
      apiVersion: 'v1',
      groupVersion: 'example.com/v1beta1',
      resources: [
        {
          name: 'widgets',
          singularName: 'widget',
          namespaced: true,
          kind: 'Widget',
          verbs: ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'],
          shortNames: ['wd'],
          storageVersionHash: hash,
        },
        {
          name: 'widgets/status',
          singularName: '',
          namespaced: true,
          kind: 'Widget',
          verbs: ['get', 'patch', 'update'],
        },
        {
          name: 'widgets/scale',
          singularName: '',
          namespaced: true,
          group: 'autoscaling',
          version: 'v1',
          kind: 'Scale',
          verbs: ['get', 'patch', 'update'],
        },
      ],
    })
  })

  it('spells out the group and version of their kinds in the aggregated document', () => {
    const [resource] = aggregatedDiscovery([widgets], 'named').items[0]?.versions[0]?.resources ?? []
    assert.deepEqual(resource?.responseKind, { group: 'example.com', version: 'v1', kind: 'Widget' })
    assert.deepEqual(resource?.subresources?.[1]?.responseKind, {
      group: 'autoscaling',
      version: 'v1',
      kind: 'Scale',
    })
  })
})

describe('sha256', () => {
  it("agrees with the platform's on lengths around the block size", () => {
    for (const length of [0, 1, 55, 56, 63, 64, 65, 119, 120, 1000]) {
      const bytes = Uint8Array.from({ length }, (_, i) => (i * 7) & 0xff)
      assert.deepEqual(
        Buffer.from(sha256(bytes)),
        createHash('sha256').update(bytes).digest(),
        `${length} bytes`,
      )
    }
  })
})
