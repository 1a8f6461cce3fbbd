import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  groupsFromAggregatedDiscovery,
  groupsFromLegacyDiscovery,
  restMapperFromDiscovery,
} from './discovery.ts'
import { guessResource, RESTMapper, type RESTMapping } from './rest-mapper.ts'

function mapping(group: string, version: string, kind: string, shortNames: string[] = []): RESTMapping {
  const { plural, singular } = guessResource(kind)
  return {
    kind: { group, version, kind },
    resource: { group, version, resource: plural },
    singular,
    namespaced: true,
    shortNames,
  }
}

const deployments = [
  mapping('apps', 'v1', 'Deployment', ['deploy']),
  mapping('extensions', 'v1beta1', 'Deployment'),
]

describe('discovery documents of Go servers', () => {
  it('have null for empty lists', () => {
    const group = { name: 'a.com', versions: [{ groupVersion: 'a.com/v1', version: 'v1' }] }
    const list = JSON.parse('{"groupVersion":"a.com/v1","resources":null}')
    const [legacy] = groupsFromLegacyDiscovery([group], [list])
    assert.deepEqual(legacy?.versions[0]?.resources, [])
    const aggregated = JSON.parse(
      '{"items":[{"metadata":{"name":"a.com"},"versions":[{"version":"v1","resources":null}]},{"versions":null}]}',
    )
    assert.deepEqual(groupsFromAggregatedDiscovery(aggregated)[0]?.versions[0]?.resources, [])
  })
})

describe('RESTMapper of a table', () => {
  const mapper = new RESTMapper([...deployments, mapping('', 'v1', 'Endpoints'), mapping('', 'v1', 'Pod')])

  it('finds kinds by plural, by singular and in any case', () => {
    for (const resource of ['pods', 'pod', 'Pods']) assert.equal(mapper.kindFor({ resource }).kind, 'Pod')
    assert.deepEqual(mapper.resourceFor({ resource: 'endpoints' }), {
      group: '',
      version: 'v1',
      resource: 'endpoints',
    })
  })

  it('accepts the beginning of a group', () => {
    assert.equal(mapper.kindFor({ group: 'ext', resource: 'deployment' }).group, 'extensions')
  })

  it('reports a missing match as client-go does', () => {
    assert.throws(() => mapper.kindFor({ resource: 'nope' }), {
      message: 'no matches for /, Resource=nope',
      code: 'NoMatch',
    })
    assert.throws(() => mapper.resourceFor({ group: 'a', version: 'v1', resource: 'pods' }), {
      message: 'no matches for a/v1, Resource=pods',
    })
    const kind = { group: 'apps', kind: 'Nope' }
    assert.throws(() => mapper.restMapping(kind), { message: 'no matches for kind "Nope" in group "apps"' })
    assert.throws(() => mapper.restMapping(kind, 'v1'), {
      message: 'no matches for kind "Nope" in version "apps/v1"',
    })
    assert.throws(() => mapper.restMapping(kind, 'v2', 'v1'), {
      message: 'no matches for kind "Nope" in versions ["apps/v1" "apps/v2"]',
    })
  })

  it('reports an ambiguous match as client-go does', () => {
    assert.throws(() => mapper.resourceFor({ resource: 'deployments' }), {
      code: 'AmbiguousMatch',
      message:
        '/, Resource=deployments matches multiple resources [apps/v1, Resource=deployments extensions/v1beta1, Resource=deployments]',
    })
    assert.throws(() => mapper.kindFor({ resource: 'deployments' }), {
      message:
        '/, Resource=deployments matches multiple kinds [apps/v1, Kind=Deployment extensions/v1beta1, Kind=Deployment]',
    })
    const versions = new RESTMapper([mapping('a', 'v1', 'X'), mapping('a', 'v2', 'X')])
    assert.throws(() => versions.restMapping({ group: 'a', kind: 'X' }), {
      message: 'a/, Kind=X matches multiple kinds [a/v1, Kind=X a/v2, Kind=X]',
    })
    assert.equal(versions.restMapping({ group: 'a', kind: 'X' }, 'v2', 'v1').kind.version, 'v2')
  })

  it('decides by priority, and resolves short names when configured', () => {
    const priority = [
      { group: 'extensions', version: 'v1beta1' },
      { group: 'apps', version: 'v1' },
    ]
    const preferring = new RESTMapper(deployments, { priority, shortNames: true })
    assert.equal(preferring.kindFor({ resource: 'deployments' }).group, 'extensions')
    assert.equal(preferring.resourceFor({ resource: 'deploy' }).resource, 'deployments')
    assert.throws(() => mapper.resourceFor({ resource: 'deploy' }), { code: 'NoMatch' })
  })

  it('takes the last of two resources with one kind', () => {
    const [first] = deployments
    const second = { ...first!, resource: { ...first!.resource, resource: 'rollouts' } }
    const both = new RESTMapper([first!, second])
    assert.equal(both.restMapping({ group: 'apps', kind: 'Deployment' }).resource.resource, 'rollouts')
    assert.equal(both.kindFor({ resource: 'deployments' }).kind, 'Deployment')
  })

  it('gives the singular', () => {
    assert.equal(mapper.singularize('pods'), 'pod')
    assert.throws(() => mapper.singularize('nope'), { code: 'NoMatch' })
  })

  it('guesses plurals as upstream does', () => {
    assert.equal(guessResource('NetworkPolicy').plural, 'networkpolicies')
    assert.equal(guessResource('Ingress').plural, 'ingresses')
    assert.equal(guessResource('Endpoints').plural, 'endpoints')
  })
})

describe('RESTMapper of discovery', () => {
  const aggregated = {
    items: [
      {
        metadata: { name: 'apps' },
        versions: [
          {
            version: 'v1',
            resources: [
              {
                resource: 'deployments',
                responseKind: { kind: 'Deployment' },
                scope: 'Namespaced',
                shortNames: ['deploy'],
              },
            ],
          },
          {
            version: 'v1beta1',
            resources: [
              { resource: 'deployments', responseKind: { kind: 'Deployment' }, scope: 'Namespaced' },
            ],
          },
        ],
      },
      {
        metadata: { name: 'broken.example.com' },
        versions: [
          { version: 'v1', freshness: 'Stale', resources: [{ resource: 'x', responseKind: { kind: 'X' } }] },
        ],
      },
    ],
  }

  it('prefers the first version and leaves out what is stale', () => {
    const mapper = restMapperFromDiscovery(groupsFromAggregatedDiscovery(aggregated))
    assert.equal(mapper.kindFor({ resource: 'deployments' }).version, 'v1')
    assert.equal(
      mapper.restMapping({ group: 'apps', kind: 'deployment' }, 'v1beta1').resource.version,
      'v1beta1',
    )
    assert.equal(mapper.singularize('deployments'), 'deployment')
    assert.throws(() => mapper.resourceFor({ resource: 'x' }), { code: 'NoMatch' })
  })

  it('prefers the core group, wherever the server lists it', () => {
    const events = (name: string) => ({
      metadata: { name },
      versions: [{ version: 'v1', resources: [{ resource: 'events', responseKind: { kind: 'Event' } }] }],
    })
    const groups = groupsFromAggregatedDiscovery({ items: [events('events.k8s.io'), events('')] })
    assert.equal(restMapperFromDiscovery(groups).kindFor({ resource: 'events' }).group, '')
  })

  it('reads the old form to the same effect, without subresources', () => {
    const groups = groupsFromLegacyDiscovery(
      [
        { name: '', versions: [{ version: 'v1' }] },
        { name: 'apps', versions: [{ version: 'v1' }] },
      ],
      [
        {
          groupVersion: 'v1',
          resources: [
            { name: 'pods', singularName: 'pod', namespaced: true, kind: 'Pod' },
            { name: 'pods/log', singularName: '', namespaced: true, kind: 'Pod' },
          ],
        },
      ],
    )
    assert.deepEqual(
      groups.map(group => group.versions.length),
      [1, 0],
    )
    const found = restMapperFromDiscovery(groups).restMapping({ group: '', kind: 'Pod' })
    assert.equal(found.resource.resource, 'pods')
    assert.ok(found.namespaced)
  })
})
