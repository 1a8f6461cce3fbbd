import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { allow, patch, register, serveHooks, startServer } from '../test-support/server.ts'

const configmaps = '/api/v1/namespaces/default/configmaps'
const rules = (resource: string, ...operations: string[]) => [
  { operations, apiGroups: [''], apiVersions: ['v1'], resources: [resource] },
]

describe('validating webhooks', () => {
  it('receive the request and can deny it', async () => {
    await using hooks = await serveHooks({
      '/deny': ({ object }) =>
        object?.data?.mood === 'bad'
          ? { allowed: false, status: { message: 'the mood is bad', reason: 'Forbidden', code: 403 } }
          : { ...allow, warnings: ['fine'], auditAnnotations: { seen: 'yes' } },
    })
    await using server = await startServer()
    await register(server, 'Validating', 'mood', [
      { clientConfig: hooks.clientConfig('/deny'), rules: rules('configmaps', 'CREATE', 'UPDATE', 'DELETE') },
    ])
    const refused = await server.send('POST', configmaps, { metadata: { name: 'a' }, data: { mood: 'bad' } })
    assert.equal(refused.status, 403)
    assert.equal(refused.body.reason, 'Forbidden')
    assert.equal(
      refused.body.message,
      'admission webhook "mood.example.com" denied the request: the mood is bad',
    )
    const taken = await server.send('POST', `${configmaps}?fieldManager=me`, {
      metadata: { generateName: 'b-' },
    })
    assert.equal(taken.status, 201)
    assert.deepEqual(taken.warnings, ['fine'])
    const request = hooks.asked('/deny')[1]
    const { object, uid, ...rest } = request
    assert.match(uid, /^[0-9a-f-]{36}$/)
    assert.equal(object.metadata.uid, taken.body.metadata.uid)
    assert.deepEqual(rest, {
      kind: { group: '', version: 'v1', kind: 'ConfigMap' },
      resource: { group: '', version: 'v1', resource: 'configmaps' },
      requestKind: { group: '', version: 'v1', kind: 'ConfigMap' },
      requestResource: { group: '', version: 'v1', resource: 'configmaps' },
      name: taken.body.metadata.name,
      namespace: 'default',
      operation: 'CREATE',
      userInfo: { username: 'admin', groups: ['system:masters', 'system:authenticated'] },
      oldObject: null,
      dryRun: false,
      options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1', fieldManager: 'me' },
    })
  })
})

describe('mutating webhooks', () => {
  it('mutate the object one after the other, and defaults are filled in again', async () => {
    await using hooks = await serveHooks({
      '/one': () => patch({ op: 'add', path: '/data/one', value: '1' }),
      '/two': ({ object }) => patch({ op: 'add', path: '/data/two', value: object.data.one ? '2' : 'early' }),
    })
    await using server = await startServer()
    await register(server, 'Mutating', 'chain', [
      {
        name: 'one.example.com',
        clientConfig: hooks.clientConfig('/one'),
        rules: rules('configmaps', 'CREATE'),
      },
      {
        name: 'two.example.com',
        clientConfig: hooks.clientConfig('/two'),
        rules: rules('configmaps', 'CREATE'),
      },
    ])
    const made = await server.must('POST', configmaps, { metadata: { name: 'a' }, data: { zero: '0' } })
    assert.deepEqual(made.data, { zero: '0', one: '1', two: '2' })
  })
})
