import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isMachineryError } from '@coxswain/apimachinery/errors'
import { createRealEnv } from '@coxswain/kit'
import { createInProcessTransport, type Handler } from '@coxswain/wire'
import { createClient } from './create-client.ts'
import { createDiscovery } from './discovery.ts'
import { failure, json } from './test-support/scripted-server.ts'

const aggregatedType = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

const resource = (name: string, kind: string, scope = 'Namespaced', shortNames: string[] = []) => ({
  resource: name,
  responseKind: { kind },
  scope,
  singularResource: kind.toLowerCase(),
  shortNames,
  verbs: ['get', 'list'],
})

const groupOf = (name: string, version: string, resources: unknown[]) => ({
  metadata: { name },
  versions: [{ version, resources }],
})

const core = groupOf('', 'v1', [
  resource('pods', 'Pod', 'Namespaced', ['po']),
  resource('nodes', 'Node', 'Cluster'),
])
const apps = groupOf('apps', 'v1', [resource('deployments', 'Deployment', 'Namespaced', ['deploy'])])
const cnat = groupOf('cnat.example.com', 'v1alpha1', [resource('ats', 'At')])

/** A server that speaks aggregated discovery, with entity tags; `groups` may change. */
function startAggregated() {
  const state = { groups: [apps], tag: '"1"', asked: [] as string[] }
  const handler: Handler = async ({ path, headers }) => {
    const items = path === '/api' ? [core] : state.groups
    const tag = path === '/api' ? '"core"' : state.tag
    if (headers['if-none-match'] === tag) {
      state.asked.push(`${path} 304`)
      return { status: 304, headers: { etag: tag } }
    }
    state.asked.push(`${path} 200`)
    return json({ kind: 'APIGroupDiscoveryList', items }, 200, { 'content-type': aggregatedType, etag: tag })
  }
  return { state, discovery: discoverWith(handler) }
}

function discoverWith(handler: Handler) {
  const env = createRealEnv()
  return createDiscovery(createClient({ transport: createInProcessTransport(handler, env), env }))
}

describe('discovery', () => {
  it('sends one request for concurrent callers', async () => {
    const { state, discovery } = startAggregated()
    const [groups] = await Promise.all([discovery.groups(), discovery.groups(), discovery.mapper()])
    assert.deepEqual(
      groups.map(({ name }) => name),
      ['', 'apps'],
    )
    assert.deepEqual(state.asked, ['/api 200', '/apis 200'])
  })

  it('finds kinds by type, and by the names that users type', async () => {
    const { discovery } = startAggregated()
    const {
      group,
      version,
      kind,
      resource: plural,
      namespaced,
    } = await discovery.kindOf('apps/v1', 'Deployment')
    assert.deepEqual(
      [group, version, kind, plural, namespaced],
      ['apps', 'v1', 'Deployment', 'deployments', true],
    )
    assert.equal((await discovery.kindForResource({ resource: 'deploy' })).kind, 'Deployment')
    assert.equal((await discovery.kindForResource({ resource: 'Pod' })).resource, 'pods')
    assert.equal((await discovery.kindForResource({ resource: 'node' })).namespaced, false)
  })

  it('refreshes for an unknown kind, with entity tags', async () => {
    const { state, discovery } = startAggregated()
    await discovery.groups()
    state.groups = [apps, cnat]
    state.tag = '"2"'
    assert.equal((await discovery.kindOf('cnat.example.com/v1alpha1', 'At')).resource, 'ats')
    assert.deepEqual(state.asked, ['/api 200', '/apis 200', '/api 304', '/apis 200'])
    await assert.rejects(discovery.kindOf('x/v1', 'Y'), error => isMachineryError(error, 'NoMatch'))
    assert.deepEqual(state.asked.slice(4), ['/api 304', '/apis 304'])
  })

  it('falls back to unaggregated discovery, and an unavailable group does not hide the others', async () => {
    const list = (groupVersion: string, name: string, kind: string) => ({
      kind: 'APIResourceList',
      groupVersion,
      resources: [
        { name, singularName: '', namespaced: true, kind, verbs: ['get'] },
        { name: `${name}/status`, singularName: '', namespaced: true, kind, verbs: ['get'] },
      ],
    })
    const group = (name: string, version: string) => {
      const entry = { groupVersion: `${name}/${version}`, version }
      return { name, versions: [entry], preferredVersion: entry }
    }
    const answers: Record<string, unknown> = {
      '/api': { kind: 'APIVersions', versions: ['v1'] },
      '/api/v1': list('v1', 'pods', 'Pod'),
      '/apis': { kind: 'APIGroupList', groups: [group('apps', 'v1'), group('metrics', 'v1')] },
      '/apis/apps/v1': list('apps/v1', 'deployments', 'Deployment'),
    }
    const discovery = discoverWith(async ({ path }) =>
      answers[path] ? json(answers[path]) : failure(503, 'ServiceUnavailable'),
    )
    assert.equal((await discovery.kindOf('v1', 'Pod')).resource, 'pods')
    assert.equal((await discovery.kindOf('apps/v1', 'Deployment')).resource, 'deployments')
    assert.deepEqual([...(await discovery.failures()).keys()], ['metrics/v1'])
  })

  it("reports stale versions, in client-go's words", async () => {
    const stale = { metadata: { name: 'metrics' }, versions: [{ version: 'v1', freshness: 'Stale' }] }
    const discovery = discoverWith(async ({ path }) =>
      json({ items: path === '/api' ? [core] : [apps, stale] }, 200, { 'content-type': aggregatedType }),
    )
    const failures = [...(await discovery.failures())].map(([name, { message }]) => `${name}: ${message}`)
    assert.deepEqual(failures, ['metrics/v1: stale GroupVersion discovery: metrics/v1'])
    assert.equal((await discovery.kindOf('apps/v1', 'Deployment')).resource, 'deployments')
  })

  it('does not cache a failure', async () => {
    let down = true
    const discovery = discoverWith(async ({ path }) =>
      down
        ? failure(500, 'InternalError')
        : json({ items: path === '/api' ? [core] : [apps] }, 200, { 'content-type': aggregatedType }),
    )
    await assert.rejects(discovery.groups())
    down = false
    assert.equal((await discovery.groups()).length, 2)
  })
})
