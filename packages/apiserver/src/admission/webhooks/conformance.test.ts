/** Upstream's conformance tests of admission webhooks, by behaviour, with real HTTPS webhooks. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { JsonObject } from '@coxswain/apimachinery/json'
import {
  allow,
  type HookServer,
  patch,
  serveHooks,
  startServer,
  type TestServer,
} from '../test-support/server.ts'

const base = '/apis/admissionregistration.k8s.io/v1'
const latency = 1300

let server: TestServer
let hooks: HookServer
let count = 0

const hasBadData = (object: JsonObject | null): boolean =>
  Object.values((object?.data ?? {}) as JsonObject).includes('webhook-disallow')
const refuse = (message: string) => ({ allowed: false, status: { message } })

before(async () => {
  hooks = await serveHooks({
    '/allow': () => allow,
    '/deny': () => refuse('no'),
    '/configmaps': ({ object }) =>
      hasBadData(object) ? refuse('the configmap contains unwanted key and value') : allow,
    '/pods': ({ object }) =>
      object?.metadata?.labels?.['webhook-e2e-test'] === 'disallow'
        ? refuse('the pod contains unwanted label')
        : allow,
    '/attach': ({ operation, subResource, name }) =>
      operation === 'CONNECT' && subResource === 'attach' && name === 'to-be-attached-pod'
        ? refuse('attaching to pod is not allowed')
        : allow,
    '/custom': ({ object, oldObject }) =>
      hasBadData(object) || (object === null && hasBadData(oldObject))
        ? refuse('the custom resource contains unwanted data')
        : allow,
    '/mutate-data-1': ({ object }) =>
      object.data?.['mutation-start'] === 'yes'
        ? patch({ op: 'add', path: '/data/mutation-stage-1', value: 'yes' })
        : allow,
    '/mutate-data-2': ({ object }) =>
      object.data?.['mutation-stage-1'] === 'yes'
        ? patch({ op: 'add', path: '/data/mutation-stage-2', value: 'yes' })
        : allow,
    '/init-container': () =>
      patch({
        op: 'add',
        path: '/spec/initContainers',
        value: [{ image: 'webhook-added-image', name: 'webhook-added-init-container', resources: {} }],
      }),
    '/label': ({ object }) =>
      patch(
        object.metadata.labels
          ? { op: 'add', path: '/metadata/labels/marked', value: 'true' }
          : { op: 'add', path: '/metadata/labels', value: { marked: 'true' } },
      ),
    '/slow': async () => {
      await new Promise(resolve => setTimeout(resolve, latency))
      return allow
    },
  })
  server = await startServer()
})

after(async () => {
  await server[Symbol.asyncDispose]()
  await hooks[Symbol.asyncDispose]()
})

/** A namespace of its own, with the `default` service account that Pods need. */
async function createNamespace(labels: JsonObject = {}): Promise<string> {
  const name = `ns-${++count}`
  await server.must('POST', '/api/v1/namespaces', { metadata: { name, labels } })
  await server.must('POST', `/api/v1/namespaces/${name}/serviceaccounts`, { metadata: { name: 'default' } })
  return name
}

interface Registration {
  readonly kind: 'mutating' | 'validating'
  readonly path: string
  readonly rules: readonly JsonObject[]
}

const rule = (
  resource: string,
  operations: string[] = ['CREATE', 'UPDATE'],
  apiGroup = '',
  version = 'v1',
) => ({
  operations,
  apiGroups: [apiGroup],
  apiVersions: [version],
  resources: [resource],
})

/** Registers one webhook for a namespace (for everything when it is empty); returns the path of its configuration. */
async function registerFor(
  namespace: string,
  { kind, path, rules }: Registration,
  webhook: JsonObject = {},
): Promise<string> {
  const name = `config-${++count}`
  const collection = `${base}/${kind}webhookconfigurations`
  await server.must('POST', collection, {
    metadata: { name, labels: { suite: 'conformance' } },
    webhooks: [
      {
        name: `${name}.k8s.io`,
        clientConfig: hooks.clientConfig(path),
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        rules,
        ...(namespace !== '' && {
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
        }),
        ...webhook,
      },
    ],
  })
  return `${collection}/${name}`
}

const pod = (name: string, labels: JsonObject = {}) => ({
  metadata: { name, labels },
  spec: { containers: [{ name: 'c', image: 'i' }] },
})

/** A CRD whose objects have `data`; waits until it is served. */
async function createCrd(schema: JsonObject, versions: readonly JsonObject[] = [{}]): Promise<string> {
  const group = `group${++count}.example.com`
  const body = {
    metadata: { name: `widgets.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
      versions: versions.map((version, index) => ({
        name: `v${index + 1}`,
        served: true,
        storage: index === 0,
        schema: { openAPIV3Schema: schema },
        ...version,
      })),
    },
  }
  const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  await server.must('POST', crds, body)
  for (;;) {
    const { status } = await server.must('GET', `${crds}/widgets.${group}`)
    const conditions = (status?.conditions ?? []) as { type: string; status: string }[]
    if (conditions.some(({ type, status: value }) => type === 'Established' && value === 'True')) return group
    await new Promise(resolve => setTimeout(resolve, 5))
  }
}

const looseSchema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
const widget = (group: string, name: string, data: JsonObject, version = 'v1') => ({
  apiVersion: `${group}/${version}`,
  kind: 'Widget',
  metadata: { name },
  data,
})

describe('admission webhooks', () => {
  it('are in the discovery documents', async () => {
    const { groups } = await server.must('GET', '/apis')
    const group = groups.find(
      (candidate: { name: string }) => candidate.name === 'admissionregistration.k8s.io',
    )
    assert.ok(group.versions.some((version: { version: string }) => version.version === 'v1'))
    const { resources } = await server.must('GET', base)
    const names = resources.map((resource: { name: string }) => resource.name)
    assert.ok(
      names.includes('mutatingwebhookconfigurations') && names.includes('validatingwebhookconfigurations'),
    )
  })

  it('deny pods and configmaps, on create, update and patch, except in an exempt namespace', async () => {
    const namespace = await createNamespace()
    const spared = await createNamespace({ 'skip-webhook-admission': 'yes' })
    const select = {
      namespaceSelector: {
        matchExpressions: [{ key: 'skip-webhook-admission', operator: 'NotIn', values: ['yes'] }],
      },
    }
    const kind = 'validating' as const
    const configurations = [
      await registerFor('', { kind, path: '/pods', rules: [rule('pods')] }, select),
      await registerFor('', { kind, path: '/configmaps', rules: [rule('configmaps')] }, select),
    ]
    const refused = await server.send(
      'POST',
      `/api/v1/namespaces/${namespace}/pods`,
      pod('p', { 'webhook-e2e-test': 'disallow' }),
    )
    assert.match(
      refused.body.message,
      /^admission webhook ".*" denied the request: the pod contains unwanted label$/,
    )
    assert.equal(refused.status, 400)
    const configmaps = `/api/v1/namespaces/${namespace}/configmaps`
    const bad = { 'webhook-e2e-test': 'webhook-disallow' }
    const badMap = await server.send('POST', configmaps, { metadata: { name: 'bad' }, data: bad })
    assert.match(badMap.body.message, /denied the request: the configmap contains unwanted key and value/)
    const fine = await server.must('POST', configmaps, {
      metadata: { name: 'fine' },
      data: { admit: 'this' },
    })
    const update = await server.send('PUT', `${configmaps}/fine`, { ...fine, data: bad })
    assert.match(update.body.message, /denied the request/)
    const patched = await server.send('PATCH', `${configmaps}/fine`, { data: bad })
    assert.match(patched.body.message, /denied the request/)
    await server.must('POST', `/api/v1/namespaces/${spared}/configmaps`, {
      metadata: { name: 'bad' },
      data: bad,
    })
    for (const configuration of configurations) await server.must('DELETE', configuration)
  })

  it('deny attaching to a pod', async () => {
    const namespace = await createNamespace()
    const rules = [rule('pods/attach', ['CONNECT'])]
    await registerFor(namespace, { kind: 'validating', path: '/attach', rules })
    const pods = `/api/v1/namespaces/${namespace}/pods`
    await server.must('POST', pods, pod('to-be-attached-pod'))
    const refused = await server.send('GET', `${pods}/to-be-attached-pod/attach?stdin=true&container=c`)
    assert.match(refused.body.message, /denied the request: attaching to pod is not allowed/)
    const request = hooks.asked('/attach')[0]
    assert.deepEqual(request.object, {
      kind: 'PodAttachOptions',
      apiVersion: 'v1',
      stdin: true,
      container: 'c',
    })
    assert.deepEqual(request.kind, { group: '', version: 'v1', kind: 'PodAttachOptions' })
    assert.equal(request.options, null)
  })

  it('deny custom resources when they are created, updated and deleted', async () => {
    const namespace = await createNamespace()
    const group = await createCrd(looseSchema)
    const widgets = `/apis/${group}/v1/namespaces/${namespace}/widgets`
    await server.must('POST', widgets, widget(group, 'good', { key: 'ok' }))
    await server.must('POST', widgets, widget(group, 'stuck', { key: 'webhook-disallow' }))
    const rules = [rule('widgets', ['CREATE', 'UPDATE', 'DELETE'], group)]
    await registerFor(namespace, { kind: 'validating', path: '/custom', rules })
    const created = await server.send('POST', widgets, widget(group, 'bad', { key: 'webhook-disallow' }))
    assert.match(created.body.message, /denied the request: the custom resource contains unwanted data/)
    const changed = await server.send('PATCH', `${widgets}/good`, { data: { key: 'webhook-disallow' } })
    assert.match(changed.body.message, /denied the request/)
    assert.match((await server.send('DELETE', `${widgets}/stuck`)).body.message, /denied the request/)
    await server.must('PATCH', `${widgets}/stuck`, { data: { key: null } })
    await server.must('DELETE', `${widgets}/stuck`)
  })

  it('fail closed when they cannot be reached', async () => {
    const namespace = await createNamespace()
    const rules = [rule('configmaps', ['CREATE'])]
    const clientConfig = { url: 'https://127.0.0.1:1/closed' }
    await registerFor(
      namespace,
      { kind: 'validating', path: '', rules },
      { clientConfig, failurePolicy: 'Fail' },
    )
    const refused = await server.send('POST', `/api/v1/namespaces/${namespace}/configmaps`, {
      metadata: { name: 'a' },
    })
    assert.equal(refused.status, 500)
    assert.equal(refused.body.reason, 'InternalError')
    assert.match(
      refused.body.message,
      /^Internal error occurred: failed calling webhook "config-\d+.k8s.io": failed to call webhook: Post "https:\/\/127.0.0.1:1\/closed\?timeout=10s": dial tcp 127.0.0.1:1: connect: connection refused$/,
    )
  })

  it('mutate configmaps one after the other', async () => {
    const namespace = await createNamespace()
    const kind = 'mutating' as const
    const rules = [rule('configmaps', ['CREATE'])]
    await registerFor(namespace, { kind, path: '/mutate-data-1', rules })
    await registerFor(namespace, { kind, path: '/mutate-data-2', rules })
    const body = { metadata: { name: 'a' }, data: { 'mutation-start': 'yes' } }
    const made = await server.must('POST', `/api/v1/namespaces/${namespace}/configmaps`, body)
    assert.deepEqual(made.data, {
      'mutation-start': 'yes',
      'mutation-stage-1': 'yes',
      'mutation-stage-2': 'yes',
    })
  })

  it('mutate pods, whose new parts are then defaulted', async () => {
    const namespace = await createNamespace()
    const rules = [rule('pods', ['CREATE'])]
    await registerFor(namespace, { kind: 'mutating', path: '/init-container', rules })
    const made = await server.must('POST', `/api/v1/namespaces/${namespace}/pods`, pod('p'))
    const [init] = made.spec.initContainers
    assert.equal(init.name, 'webhook-added-init-container')
    assert.equal(init.terminationMessagePolicy, 'File')
    assert.equal(init.imagePullPolicy, 'Always')
  })

  it('can neither change webhook configurations nor prevent their deletion', async () => {
    const rules = [rule('*', ['*'], 'admissionregistration.k8s.io', '*')]
    const guards = [
      await registerFor('', { kind: 'validating', path: '/deny', rules }),
      await registerFor('', { kind: 'mutating', path: '/label', rules }),
    ]
    for (const kind of ['validating', 'mutating'] as const) {
      const made = await registerFor('nowhere', { kind, path: '/allow', rules: [rule('configmaps')] })
      assert.equal((await server.must('GET', made)).metadata.labels.marked, undefined)
      await server.must('DELETE', made)
    }
    for (const guard of guards) await server.must('DELETE', guard)
  })

  it('mutate custom resources', async () => {
    const namespace = await createNamespace()
    const group = await createCrd(looseSchema)
    const rules = [rule('widgets', ['CREATE'], group)]
    await registerFor(namespace, { kind: 'mutating', path: '/mutate-data-1', rules })
    await registerFor(namespace, { kind: 'mutating', path: '/mutate-data-2', rules })
    const body = widget(group, 'a', { 'mutation-start': 'yes' })
    const made = await server.must('POST', `/apis/${group}/v1/namespaces/${namespace}/widgets`, body)
    assert.deepEqual(made.data, {
      'mutation-start': 'yes',
      'mutation-stage-1': 'yes',
      'mutation-stage-2': 'yes',
    })
  })

  it('deny custom resource definitions', async () => {
    const rules = [rule('customresourcedefinitions', ['CREATE'], 'apiextensions.k8s.io', '*')]
    const objectSelector = { matchLabels: { 'webhook-e2e-test': 'webhook-disallow' } }
    const configuration = await registerFor(
      '',
      { kind: 'validating', path: '/deny', rules },
      { objectSelector },
    )
    const refused = await server.send('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      metadata: { name: 'widgets.denied.example.com', labels: { 'webhook-e2e-test': 'webhook-disallow' } },
      spec: {
        group: 'denied.example.com',
        scope: 'Cluster',
        names: { plural: 'widgets', kind: 'Widget' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: looseSchema } }],
      },
    })
    assert.match(refused.body.message, /denied the request: no/)
    await server.must('DELETE', configuration)
  })

  it('mutate custom resources whatever their storage version', async () => {
    const namespace = await createNamespace()
    const group = await createCrd(looseSchema, [{ storage: false }, { storage: true }])
    const rules = [rule('widgets', ['CREATE', 'UPDATE'], group, 'v1')]
    await registerFor(namespace, { kind: 'mutating', path: '/mutate-data-1', rules })
    const body = widget(group, 'a', { 'mutation-start': 'yes' })
    await server.must('POST', `/apis/${group}/v1/namespaces/${namespace}/widgets`, body)
    const v2 = `/apis/${group}/v2/namespaces/${namespace}/widgets`
    assert.equal((await server.must('GET', `${v2}/a`)).data['mutation-stage-1'], 'yes')
    // The rule names v1 only: with matchPolicy Equivalent a request for v2 is converted for the webhook.
    const changed = await server.must('POST', v2, widget(group, 'b', { 'mutation-start': 'yes' }, 'v2'))
    assert.equal(changed.apiVersion, `${group}/v2`)
    assert.equal(changed.data['mutation-stage-1'], 'yes')
    const request = hooks.asked('/mutate-data-1').at(-1)
    assert.equal(request.object.apiVersion, `${group}/v1`)
    assert.equal(request.kind.version, 'v1')
    assert.equal(request.requestKind.version, 'v2')
    assert.equal(request.requestResource.version, 'v2')
  })

  it('mutate custom resources, and fields outside the schema are pruned again', async () => {
    const namespace = await createNamespace()
    const texts = { type: 'string' }
    const data = { type: 'object', properties: { 'mutation-start': texts, 'mutation-stage-1': texts } }
    const group = await createCrd({ type: 'object', properties: { data } })
    const rules = [rule('widgets', ['CREATE'], group)]
    await registerFor(namespace, { kind: 'mutating', path: '/mutate-data-1', rules })
    await registerFor(namespace, { kind: 'mutating', path: '/mutate-data-2', rules })
    const body = widget(group, 'a', { 'mutation-start': 'yes' })
    const made = await server.must('POST', `/apis/${group}/v1/namespaces/${namespace}/widgets`, body)
    assert.deepEqual(made.data, { 'mutation-start': 'yes', 'mutation-stage-1': 'yes' })
  })

  it('honour their timeouts', async () => {
    const attempt = async (webhook: JsonObject) => {
      const namespace = await createNamespace()
      const rules = [rule('configmaps', ['CREATE'])]
      await registerFor(namespace, { kind: 'validating', path: '/slow', rules }, webhook)
      return await server.send('POST', `/api/v1/namespaces/${namespace}/configmaps`, {
        metadata: { name: 'a' },
      })
    }
    const [short, shortIgnored, longer, preset] = await Promise.all([
      attempt({ timeoutSeconds: 1, failurePolicy: 'Fail' }),
      attempt({ timeoutSeconds: 1, failurePolicy: 'Ignore' }),
      attempt({ timeoutSeconds: 10, failurePolicy: 'Fail' }),
      attempt({ failurePolicy: 'Fail' }),
    ])
    assert.equal(short.status, 500)
    assert.match(
      short.body.message,
      /Post "https:\/\/127.0.0.1:\d+\/slow\?timeout=1s": context deadline exceeded$/,
    )
    assert.deepEqual([shortIgnored.status, longer.status, preset.status], [201, 201, 201])
  })

  for (const kind of ['validating', 'mutating'] as const) {
    it(`follow updates and patches of a ${kind} configuration`, async () => {
      const namespace = await createNamespace()
      const configmaps = `/api/v1/namespaces/${namespace}/configmaps`
      const path = kind === 'validating' ? '/configmaps' : '/mutate-data-1'
      const made = await registerFor(namespace, { kind, path, rules: [rule('configmaps', ['CREATE'])] })
      const data = { 'webhook-e2e-test': 'webhook-disallow', 'mutation-start': 'yes' }
      const isHooked = async (name: string) => {
        const { status, body } = await server.send('POST', configmaps, { metadata: { name }, data })
        return kind === 'validating' ? status === 400 : body.data['mutation-stage-1'] === 'yes'
      }
      assert.equal(await isHooked('a'), true)
      const configuration = await server.must('GET', made)
      configuration.webhooks[0].rules[0].operations = ['UPDATE']
      await server.must('PUT', made, configuration)
      assert.equal(await isHooked('b'), false)
      const operations = [{ op: 'replace', path: '/webhooks/0/rules/0/operations', value: ['CREATE'] }]
      await server.must('PATCH', made, operations, { 'content-type': 'application/json-patch+json' })
      assert.equal(await isHooked('c'), true)
    })

    it(`are not called after a collection of ${kind} configurations is deleted`, async () => {
      const namespace = await createNamespace()
      const path = kind === 'validating' ? '/configmaps' : '/mutate-data-1'
      const made = await registerFor(namespace, { kind, path, rules: [rule('configmaps', ['CREATE'])] })
      await server.must('PATCH', made, { metadata: { labels: { collection: namespace } } })
      const collection = `${base}/${kind}webhookconfigurations?labelSelector=collection%3D${namespace}`
      assert.equal((await server.must('GET', collection)).items.length, 1)
      await server.must('DELETE', collection)
      assert.equal((await server.must('GET', collection)).items.length, 0)
      const data = { 'webhook-e2e-test': 'webhook-disallow', 'mutation-start': 'yes' }
      const body = { metadata: { name: 'a' }, data }
      assert.deepEqual(
        (await server.must('POST', `/api/v1/namespaces/${namespace}/configmaps`, body)).data,
        data,
      )
    })

    it(`validate match conditions of ${kind} configurations`, async () => {
      const rules = [rule('configmaps', ['CREATE'])]
      const condition = (expression: string) => ({ matchConditions: [{ name: 'c', expression }] })
      const made = await registerFor('nowhere', { kind, path: '/allow', rules }, condition('true'))
      const configuration = await server.must('GET', made)
      configuration.webhooks[0].matchConditions.push({ name: 'd', expression: 'object.metadata.name == "x"' })
      const updated = await server.must('PUT', made, configuration)
      assert.equal(updated.webhooks[0].matchConditions.length, 2)
      updated.webhooks[0].matchConditions[0].expression = '... [] bad expression'
      const refused = await server.send('PUT', made, updated)
      assert.equal(refused.status, 422)
      assert.match(
        refused.body.message,
        /matchConditions\[0\].expression: Invalid value: .*compilation failed/s,
      )
    })
  }

  it('mutate everything except what match conditions exclude', async () => {
    const namespace = await createNamespace()
    const matchConditions = [{ name: 'skip-me', expression: "object.metadata.name != 'skip-me'" }]
    const rules = [rule('configmaps', ['CREATE'])]
    await registerFor(namespace, { kind: 'mutating', path: '/mutate-data-1', rules }, { matchConditions })
    const create = async (name: string) => {
      const body = { metadata: { name }, data: { 'mutation-start': 'yes' } }
      return (await server.must('POST', `/api/v1/namespaces/${namespace}/configmaps`, body)).data
    }
    assert.equal((await create('me'))['mutation-stage-1'], 'yes')
    assert.equal((await create('skip-me'))['mutation-stage-1'], undefined)
  })
})
