import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { JsonObject } from '@coxswain/apimachinery/json'
import { startServer, type TestServer } from '../test-support/server.ts'

const base = '/apis/admissionregistration.k8s.io/v1'
let server: TestServer
let count = 0

before(async () => {
  server = await startServer()
})
after(() => server[Symbol.asyncDispose]())

interface Place {
  readonly namespace: string
  readonly configmaps: string
  /** Binds a policy for this namespace; returns its name. */
  bind(kind: 'mutating' | 'validating', spec: JsonObject, binding?: JsonObject): Promise<string>
}

async function createPlace(labels: JsonObject = {}): Promise<Place> {
  const namespace = `place-${++count}`
  await server.must('POST', '/api/v1/namespaces', { metadata: { name: namespace, labels } })
  const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': namespace } }
  const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['configmaps'] }
  return {
    namespace,
    configmaps: `/api/v1/namespaces/${namespace}/configmaps`,
    async bind(kind, spec, binding = {}) {
      const name = `policy-${++count}`
      const operations = kind === 'mutating' ? ['CREATE', 'UPDATE'] : ['*']
      const matchConstraints = { namespaceSelector, resourceRules: [{ ...rule, operations }] }
      await server.must('POST', `${base}/${kind}admissionpolicies`, {
        metadata: { name },
        spec: { matchConstraints, ...(kind === 'mutating' && { reinvocationPolicy: 'Never' }), ...spec },
      })
      await server.must('POST', `${base}/${kind}admissionpolicybindings`, {
        metadata: { name: `${name}-binding` },
        spec: { policyName: name, ...(kind === 'validating' && { validationActions: ['Deny'] }), ...binding },
      })
      return name
    },
  }
}

const map = (name: string, data: JsonObject = { k: 'v' }, metadata: JsonObject = {}) => ({
  metadata: { name, ...metadata },
  data,
})
const validations = (expression: string, rest: JsonObject = {}) => ({
  validations: [{ expression, ...rest }],
})

describe('a validation', () => {
  it('may warn and audit instead of denying', async () => {
    const place = await createPlace()
    const name = await place.bind('validating', validations('false', { message: 'careful' }), {
      validationActions: ['Warn', 'Audit'],
    })
    const { status, warnings } = await server.send('POST', place.configmaps, map('a'))
    assert.equal(status, 201)
    assert.deepEqual(warnings, [
      `Validation failed for ValidatingAdmissionPolicy '${name}' with binding '${name}-binding': careful`,
    ])
  })

  it('sees the request, the namespace, the old object and the authorizer', async () => {
    const place = await createPlace({ team: 'blue' })
    const expressions = [
      "request.operation in ['CREATE', 'UPDATE', 'DELETE']",
      "request.kind.kind == 'ConfigMap' && request.resource.resource == 'configmaps'",
      `request.namespace == '${place.namespace}' && request.userInfo.username == 'admin'`,
      "namespaceObject.metadata.labels['team'] == 'blue'",
      "request.operation == 'CREATE' ? oldObject == null : oldObject.data.k == 'v'",
      "request.operation == 'DELETE' ? object == null : has(object.data)",
      "authorizer.group('apps').resource('deployments').namespace('x').check('create').allowed()",
      "authorizer.requestResource.check('get').allowed() && authorizer.path('/healthz').check('get').allowed()",
      "!authorizer.serviceAccount('default', 'unprivileged').group('').resource('secrets').check('get').allowed()",
    ]
    await place.bind('validating', { validations: expressions.map(expression => ({ expression })) })
    await server.must('POST', place.configmaps, map('a'))
    await server.must('PUT', `${place.configmaps}/a`, map('a', { k: 'w' }))
    const refused = await server.send('DELETE', `${place.configmaps}/a`) // the stored value is no longer 'v'
    assert.equal(refused.status, 422)
    assert.match(refused.body.message, /failed expression: request.operation == 'CREATE'/)
  })

  it('is skipped when a match condition is false, and fails when one cannot be evaluated', async () => {
    const place = await createPlace()
    await place.bind('validating', {
      ...validations('false'),
      matchConditions: [
        { name: 'broken', expression: 'object.data.absent == 1' },
        { name: 'other', expression: "object.metadata.name != 'spared'" },
      ],
    })
    assert.equal((await server.send('POST', place.configmaps, map('spared'))).status, 201)
    const refused = await server.send('POST', place.configmaps, map('a'))
    assert.match(refused.body.message, /resulted in error: no such key: absent$/)
    assert.equal(refused.status, 422)
  })

  it('that cannot be evaluated admits the request when failurePolicy is Ignore', async () => {
    const place = await createPlace()
    await place.bind('validating', { ...validations("object.data.absent == 'x'"), failurePolicy: 'Ignore' })
    await server.must('POST', place.configmaps, map('a'))
  })

  it('does not match other resource names, nor excluded resources', async () => {
    const place = await createPlace()
    const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['configmaps'] }
    const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': place.namespace } }
    const matchConstraints = {
      namespaceSelector,
      resourceRules: [rule],
      excludeResourceRules: [{ ...rule, resourceNames: ['spared'] }],
    }
    await place.bind('validating', { ...validations('false'), matchConstraints })
    assert.equal((await server.send('POST', place.configmaps, map('spared'))).status, 201)
    assert.equal((await server.send('POST', place.configmaps, map('a'))).status, 422)
  })

  it('must not exceed the cost budget', async () => {
    const place = await createPlace()
    const list = `[${Array.from({ length: 60 }, (_, index) => index).join(', ')}]`
    await place.bind('validating', {
      variables: [{ name: 'l', expression: list }],
      ...validations(
        'variables.l.all(a, variables.l.all(b, variables.l.all(c, variables.l.all(d, a + b + c + d >= 0))))',
      ),
    })
    const refused = await server.send('POST', place.configmaps, map('a'))
    assert.equal(refused.status, 422)
    assert.match(refused.body.message, /resulted in error: operation cancelled: actual cost limit exceeded$/)
  })

  it('may be bound to a part of what its policy matches, and ends with its binding', async () => {
    const place = await createPlace()
    const objectSelector = { matchLabels: { strict: 'yes' } }
    const name = await place.bind('validating', validations('false'), { matchResources: { objectSelector } })
    assert.equal((await server.send('POST', place.configmaps, map('a'))).status, 201)
    const strict = map('b', {}, { labels: { strict: 'yes' } })
    assert.equal((await server.send('POST', place.configmaps, strict)).status, 422)
    await server.must('DELETE', `${base}/validatingadmissionpolicybindings/${name}-binding`)
    assert.equal((await server.send('POST', place.configmaps, strict)).status, 201)
  })

  it('never blocks reviews, nor changes of policies', async () => {
    const name = `policy-${++count}`
    await server.must('POST', `${base}/validatingadmissionpolicies`, {
      metadata: { name },
      spec: {
        matchConstraints: {
          resourceRules: [
            {
              apiGroups: ['admissionregistration.k8s.io', 'authorization.k8s.io'],
              apiVersions: ['*'],
              operations: ['*'],
              resources: ['*'],
            },
          ],
        },
        ...validations('false'),
      },
    })
    const bindings = `${base}/validatingadmissionpolicybindings`
    await server.must('POST', bindings, {
      metadata: { name },
      spec: { policyName: name, validationActions: ['Deny'] },
    })
    const review = { spec: { resourceAttributes: { verb: 'get', resource: 'pods' } } }
    await server.must('POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', review)
    await server.must('DELETE', `${bindings}/${name}`)
  })
})

describe('parameters of a policy', () => {
  const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' }

  it("are looked up by name, in the request's namespace unless the binding names another", async () => {
    const place = await createPlace()
    await server.must('POST', place.configmaps, map('limits', { most: '3' }))
    const spec = {
      paramKind,
      ...validations('request.name == params.metadata.name || size(object.data) <= int(params.data.most)', {
        messageExpression: "'at most ' + params.data.most",
      }),
    }
    await place.bind('validating', spec, { paramRef: { name: 'limits', parameterNotFoundAction: 'Deny' } })
    assert.equal((await server.send('POST', place.configmaps, map('a', { a: '1', b: '2' }))).status, 201)
    const refused = await server.send('POST', place.configmaps, map('b', { a: '1', b: '2', c: '3', d: '4' }))
    assert.match(refused.body.message, /denied request: at most 3$/)
    await server.must('DELETE', `${place.configmaps}/limits`)
    const missing = await server.send('POST', place.configmaps, map('c'))
    assert.match(
      missing.body.message,
      /denied request: failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction$/,
    )
  })

  it('may be several, or none where that is allowed', async () => {
    const place = await createPlace()
    const elsewhere = await createPlace()
    const bad = { labels: { words: 'yes' } }
    await server.must('POST', elsewhere.configmaps, map('one', { word: 'ugly' }, bad))
    await server.must('POST', elsewhere.configmaps, map('two', { word: 'nasty' }, bad))
    const spec = { paramKind, ...validations('object.data.k != params.data.word') }
    const paramRef = (parameterNotFoundAction: string, label: string) => ({
      paramRef: {
        namespace: elsewhere.namespace,
        selector: { matchLabels: { words: label } },
        parameterNotFoundAction,
      },
    })
    await place.bind('validating', spec, paramRef('Deny', 'yes'))
    await place.bind('validating', { ...spec, ...validations('false') }, paramRef('Allow', 'none'))
    const statuses = []
    for (const k of ['fine', 'ugly', 'nasty'])
      statuses.push((await server.send('POST', place.configmaps, map(`m-${k}`, { k }))).status)
    assert.deepEqual(statuses, [201, 422, 422])
  })

  it('of a kind that is not served fail the request, as failurePolicy says', async () => {
    const place = await createPlace()
    const unknown = { apiVersion: 'rules.example.com/v1', kind: 'Limit' }
    const binding = { paramRef: { name: 'x', parameterNotFoundAction: 'Allow' } }
    await place.bind('validating', { paramKind: unknown, ...validations('true') }, binding)
    const refused = await server.send('POST', place.configmaps, map('a'))
    assert.match(
      refused.body.message,
      /denied request: failed to configure policy: failed to find resource referenced by paramKind: 'rules.example.com\/v1, Kind=Limit'$/,
    )
  })
})

const apply = (expression: string) => ({
  patchType: 'ApplyConfiguration',
  applyConfiguration: { expression },
})
const jsonPatch = (expression: string) => ({ patchType: 'JSONPatch', jsonPatch: { expression } })

describe('a mutation', () => {
  it('merges lists by their keys, and leaves atomic fields alone', async () => {
    const place = await createPlace()
    await server.must('POST', `/api/v1/namespaces/${place.namespace}/serviceaccounts`, {
      metadata: { name: 'default' },
    })
    const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': place.namespace } }
    const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }
    const matchConstraints = { namespaceSelector, resourceRules: [rule] }
    const sidecar =
      'Object{spec: Object.spec{initContainers: [Object.spec.initContainers{name: "mesh", image: "mesh:1", restartPolicy: "Always"}]}}'
    await place.bind('mutating', {
      matchConstraints,
      matchConditions: [
        { name: 'once', expression: "!object.spec.?initContainers.orValue([]).exists(c, c.name == 'mesh')" },
      ],
      mutations: [apply(sidecar)],
    })
    const pods = `/api/v1/namespaces/${place.namespace}/pods`
    const pod = {
      metadata: { name: 'p' },
      spec: { initContainers: [{ name: 'first', image: 'i' }], containers: [{ name: 'c', image: 'i' }] },
    }
    const made = await server.must('POST', pods, pod)
    const names = made.spec.initContainers.map(({ name }: { name: string }) => name)
    assert.deepEqual(names, ['first', 'mesh'])
    assert.equal(made.spec.initContainers[1].terminationMessagePath, '/dev/termination-log')

    const atomic =
      'Object{spec: Object.spec{containers: [Object.spec.containers{name: "c", command: ["x"]}]}}'
    await place.bind('mutating', { matchConstraints, mutations: [apply(atomic)] })
    const refused = await server.send('POST', pods, { ...pod, metadata: { name: 'q' } })
    assert.equal(refused.status, 403)
    assert.match(
      refused.body.message,
      /^policy 'policy-\d+' with binding 'policy-\d+-binding' denied request: error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.containers\[0\].command$/,
    )
  })

  it('may be a JSON patch with a test; a patch that does not apply rejects the request', async () => {
    const place = await createPlace()
    await place.bind('mutating', {
      mutations: [
        jsonPatch(
          '[JSONPatch{op: "test", path: "/data/k", value: "v"}, JSONPatch{op: "add", path: "/metadata/labels/" + jsonpatch.escapeKey("a/b"), value: "1"}]',
        ),
      ],
    })
    const labels = { l: '1' }
    const taken = await server.must('POST', place.configmaps, map('a', { k: 'v' }, { labels }))
    assert.deepEqual(taken.metadata.labels, { l: '1', 'a/b': '1' })
    const spared = await server.must('POST', place.configmaps, map('b', { k: 'w' }, { labels }))
    assert.deepEqual(spared.metadata.labels, labels)
    await place.bind('mutating', { mutations: [jsonPatch('[JSONPatch{op: "remove", path: "/data/none"}]')] })
    const refused = await server.send('POST', place.configmaps, map('c', { k: 'v' }, { labels }))
    assert.equal(refused.body.reason, 'Invalid')
    assert.match(refused.body.message, /denied request: JSON Patch: .*remove/)
  })

  it('is reinvoked after a later change when its policy asks for it', async () => {
    const place = await createPlace()
    const counter = (key: string) =>
      apply(`Object{data: Object.data{${key}: string(int(object.data.?${key}.orValue("0")) + 1)}}`)
    await place.bind('mutating', { mutations: [counter('first')], reinvocationPolicy: 'IfNeeded' })
    await place.bind('mutating', { mutations: [counter('second')] })
    const made = await server.must('POST', place.configmaps, map('a'))
    assert.deepEqual(made.data, { k: 'v', first: '2', second: '1' })
  })

  it('has parameters and variables like a validation', async () => {
    const place = await createPlace({ tier: 'gold' })
    await server.must('POST', place.configmaps, map('settings', { suffix: '-x' }))
    await place.bind(
      'mutating',
      {
        paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
        variables: [
          { name: 'tier', expression: "namespaceObject.metadata.labels['tier'] + params.data.suffix" },
        ],
        mutations: [apply('Object{data: Object.data{tier: variables.tier}}')],
      },
      { paramRef: { name: 'settings', parameterNotFoundAction: 'Deny' } },
    )
    assert.equal((await server.must('POST', place.configmaps, map('a'))).data.tier, 'gold-x')
  })
})
