import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Answered, crds, startCrdServer, thingCrd } from './test-support/crd-server.ts'

const path = `${crds}/things.example.com`
const v1 = '/apis/example.com/v1/things'
const merge = 'application/merge-patch+json'

const schema = {
  type: 'object',
  properties: {
    spec: { type: 'object', properties: { color: { type: 'string' }, size: { type: 'integer' } } },
  },
}
const thing = (name: string, spec: object = {}, apiVersion = 'example.com/v1') => ({
  apiVersion,
  kind: 'Thing',
  metadata: { name },
  spec,
})

const names = ({ body }: { body: Answered }) => body.items.map((item: Answered) => item.metadata.name)
const conditionOf = (body: Answered, type: string) =>
  body.status.conditions.find((condition: Answered) => condition.type === type)

describe('a CRD', () => {
  it('appears in discovery and OpenAPI within a second, and disappears again', async () => {
    await using server = await startCrdServer()
    const { world } = server
    const isShown = async () => {
      const groups = (await server.send('GET', '/apis')).body.groups.map((group: Answered) => group.name)
      const discovery = await server.send('GET', '/apis/example.com/v1')
      const v3 = (await server.send('GET', '/openapi/v3')).body.paths['apis/example.com/v1']
      const v2 = (await server.send('GET', '/openapi/v2')).body.definitions['com.example.v1.Thing']
      return [groups.includes('example.com'), discovery.status === 200, v3 !== undefined, v2 !== undefined]
    }
    assert.deepEqual(await isShown(), [false, false, false, false])
    const before = world.clock.now()
    await server.send('POST', crds, thingCrd(schema))
    assert.deepEqual(await isShown(), [true, true, true, true])
    await server.send('DELETE', path)
    assert.deepEqual(await isShown(), [false, false, false, false])
    assert.ok(world.clock.now() - before <= 1000)
  })

  it('reports its state in its conditions', async () => {
    await using server = await startCrdServer()
    const approved = thingCrd(schema, { spec: { group: 'example.k8s.io' } })
    approved.metadata = {
      name: 'things.example.k8s.io',
      annotations: { 'api-approved.kubernetes.io': 'unapproved, for tests' },
    }
    await server.send('POST', crds, approved)
    const { body } = await server.send('GET', `${crds}/things.example.k8s.io`)
    assert.equal(conditionOf(body, 'NamesAccepted').status, 'True')
    assert.equal(conditionOf(body, 'Established').reason, 'InitialNamesAccepted')
    const policy = conditionOf(body, 'KubernetesAPIApprovalPolicyConformant')
    assert.deepEqual([policy.status, policy.reason], ['False', 'UnapprovedAnnotation'])
    assert.equal(conditionOf(body, 'NonStructuralSchema'), undefined)
    await server.send('POST', '/apis/example.k8s.io/v1/things', {
      ...thing('one', {}, 'example.k8s.io/v1'),
      metadata: { name: 'one', finalizers: ['example.com/wait'] },
    })
    const deleting = await server.send('DELETE', `${crds}/things.example.k8s.io`)
    assert.equal(deleting.status, 200)
    const going = (await server.send('GET', `${crds}/things.example.k8s.io`)).body
    assert.deepEqual(
      [conditionOf(going, 'Terminating').status, going.metadata.finalizers],
      ['True', ['customresourcecleanup.apiextensions.k8s.io']],
    )
    await server.send(
      'PATCH',
      '/apis/example.k8s.io/v1/things/one',
      { metadata: { finalizers: null } },
      merge,
    )
    assert.equal((await server.send('GET', `${crds}/things.example.k8s.io`)).status, 404)
  })

  it('keeps the versions that objects were stored in, until they are removed from the status', async () => {
    await using server = await startCrdServer()
    const version = (name: string, storage: boolean) => ({
      name,
      served: true,
      storage,
      schema: { openAPIV3Schema: schema },
    })
    await server.send(
      'POST',
      crds,
      thingCrd(schema, { spec: { versions: [version('v1', true), version('v2', false)] } }),
    )
    const change = (versions: object[]) => server.send('PATCH', path, { spec: { versions } }, merge)
    const changed = await change([version('v1', false), version('v2', true)])
    assert.deepEqual(changed.body.status.storedVersions, ['v1', 'v2'])
    const refused = await change([version('v2', true)])
    assert.equal(refused.status, 422)
    assert.match(
      refused.body.message,
      /status\.storedVersions\[0\]: Invalid value: "v1": missing from spec\.versions/,
    )
    const cleared = await server.send(
      'PATCH',
      `${path}/status`,
      { status: { storedVersions: ['v2'] } },
      merge,
    )
    assert.equal(cleared.status, 200)
    assert.equal((await change([version('v2', true)])).status, 200)
    assert.equal((await server.send('GET', v1)).status, 404)
    assert.equal((await server.send('GET', '/apis/example.com/v2/things')).status, 200)
  })

  it('warns of deprecated versions, with its own message if it has one', async () => {
    await using server = await startCrdServer()
    const version = (name: string, more: object) => ({
      name,
      served: true,
      storage: name === 'v2',
      schema: { openAPIV3Schema: schema },
      ...more,
    })
    const versions = [
      version('v1', { deprecated: true }),
      version('v1beta1', { deprecated: true, deprecationWarning: 'use v2' }),
      version('v2', {}),
    ]
    await server.send('POST', crds, thingCrd(schema, { spec: { versions } }))
    assert.deepEqual((await server.send('GET', v1)).warnings, [
      '299 - "example.com/v1 Thing is deprecated; use example.com/v2 Thing"',
    ])
    assert.deepEqual((await server.send('GET', '/apis/example.com/v1beta1/things')).warnings, [
      '299 - "use v2"',
    ])
    assert.deepEqual((await server.send('GET', '/apis/example.com/v2/things')).warnings, [])
  })

  it('lets lists, watches and deletions select by its selectable fields', async () => {
    await using server = await startCrdServer()
    const selectableFields = [{ jsonPath: '.spec.color' }, { jsonPath: '.spec.size' }]
    await server.send('POST', crds, thingCrd(schema, { version: { selectableFields } }))
    for (const [name, color, size] of [
      ['a', 'red', 1],
      ['b', 'blue', 1],
      ['c', 'red', 2],
    ] as const)
      await server.send('POST', v1, thing(name, { color, size }))
    assert.deepEqual(names(await server.send('GET', `${v1}?fieldSelector=spec.color%3Dred`)), ['a', 'c'])
    assert.deepEqual(names(await server.send('GET', `${v1}?fieldSelector=spec.color%3Dred,spec.size!%3D2`)), [
      'a',
    ])
    const unknown = await server.send('GET', `${v1}?fieldSelector=spec.weight%3D1`)
    assert.deepEqual([unknown.status, unknown.body.message], [400, 'field label not supported: spec.weight'])
    const events = await server.watch(`${v1}?watch=true&resourceVersion=0&fieldSelector=spec.color%3Dblue`)
    assert.equal((await events.next()).value.object.metadata.name, 'b')
    await server.send('PATCH', `${v1}/a`, { spec: { color: 'blue' } }, merge)
    const { value } = await events.next()
    assert.deepEqual([value.type, value.object.metadata.name], ['ADDED', 'a'])
    await events.return?.()
    await server.send('DELETE', `${v1}?fieldSelector=spec.color%3Dblue`)
    assert.deepEqual(names(await server.send('GET', v1)), ['c'])
  })

  it('can change without ending the watches of other resources', async () => {
    await using server = await startCrdServer()
    await server.send('POST', crds, thingCrd(schema))
    const others = thingCrd(schema, { spec: { names: { plural: 'others', kind: 'Other' } } })
    others.metadata.name = 'others.example.com'
    await server.send('POST', crds, others)
    const own = await server.watch(`${v1}?watch=true&resourceVersion=0`)
    const other = await server.watch('/apis/example.com/v1/others?watch=true&resourceVersion=0')
    const pods = await server.watch('/api/v1/configmaps?watch=true&resourceVersion=0')
    const wider = structuredClone(schema) as Answered
    wider.properties.spec.properties.weight = { type: 'integer' }
    const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: wider } }]
    assert.equal((await server.send('PATCH', path, { spec: { versions } }, merge)).status, 200)
    assert.equal((await own.next()).done, true)
    await server.send('POST', '/apis/example.com/v1/others', { ...thing('o'), kind: 'Other' })
    assert.equal((await other.next()).value.object.metadata.name, 'o')
    await server.send('POST', '/api/v1/namespaces/default/configmaps', {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'm' },
    })
    for (;;) if ((await pods.next()).value.object.metadata.name === 'm') break
    const made = await server.send('POST', v1, thing('heavy', { weight: 3 }))
    assert.equal(made.body.spec.weight, 3)
    for (const events of [own, other, pods]) await events.return?.()
  })

  it('keeps scale, status and spec apart, and counts generations of the spec', async () => {
    await using server = await startCrdServer()
    const replicas = {
      type: 'object',
      properties: { replicas: { type: 'integer' }, selector: { type: 'string' } },
    }
    const subresources = {
      status: {},
      scale: {
        specReplicasPath: '.spec.replicas',
        statusReplicasPath: '.status.replicas',
        labelSelectorPath: '.status.selector',
      },
    }
    const crd = thingCrd(
      { type: 'object', properties: { spec: replicas, status: replicas } },
      { version: { subresources } },
    )
    await server.send('POST', crds, crd)
    const made = await server.send('POST', v1, { ...thing('a', { replicas: 2 }), status: { replicas: 9 } })
    assert.deepEqual([made.body.metadata.generation, made.body.status], [1, undefined])
    await server.send(
      'PATCH',
      `${v1}/a/status`,
      { status: { replicas: 1, selector: 'app=a' }, spec: { replicas: 7 } },
      merge,
    )
    const scale = (await server.send('GET', `${v1}/a/scale`)).body
    assert.deepEqual([scale.spec.replicas, scale.status.replicas, scale.status.selector], [2, 1, 'app=a'])
    await server.send('PATCH', `${v1}/a/scale`, { spec: { replicas: 5 } }, merge)
    const { body } = await server.send('GET', `${v1}/a`)
    assert.deepEqual([body.spec.replicas, body.metadata.generation], [5, 2])
  })
})
