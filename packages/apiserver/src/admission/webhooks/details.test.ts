import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { JsonObject } from '@coxswain/apimachinery/json'
import { createSeededRandom } from '@coxswain/kit'
import type { Handler } from '@coxswain/wire'
import { createCertificate, serve } from '@coxswain/wire/node'
import {
  allow,
  caBundle,
  type Hook,
  type HookServer,
  hookTls,
  patch,
  routedAddress,
  serveHooks,
  startServer,
  type TestServer,
} from '../test-support/server.ts'

/** Each test has its own namespace, and its webhook its own path. */
let server: TestServer
let hooks: HookServer
const current = new Map<string, Hook>()
let count = 0

before(async () => {
  hooks = await serveHooks(
    new Proxy({}, { get: (_, path) => current.get(String(path)) }) as Record<string, Hook>,
  )
  server = await startServer({
    admission: {
      webhookAuthentication: (hostPort, plugin) =>
        plugin === 'ValidatingAdmissionWebhook' && hostPort.endsWith(`:${hooks.port}`)
          ? { token: 'secret-of-the-server' }
          : undefined,
    },
  })
})

after(async () => {
  await server[Symbol.asyncDispose]()
  await hooks[Symbol.asyncDispose]()
})

interface Place {
  readonly namespace: string
  readonly path: string
  readonly configmaps: string
  add(kind: 'mutating' | 'validating', hook: Hook, webhook?: JsonObject): Promise<string>
}

async function createPlace(): Promise<Place> {
  const namespace = `place-${++count}`
  await server.must('POST', '/api/v1/namespaces', { metadata: { name: namespace } })
  await server.must('POST', `/api/v1/namespaces/${namespace}/serviceaccounts`, {
    metadata: { name: 'default' },
  })
  const all = { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] }
  return {
    namespace,
    path: `/api/v1/namespaces/${namespace}`,
    configmaps: `/api/v1/namespaces/${namespace}/configmaps`,
    async add(kind, hook, webhook = {}) {
      const name = `hook-${++count}`
      current.set(`/${name}`, hook)
      await server.must('POST', `/apis/admissionregistration.k8s.io/v1/${kind}webhookconfigurations`, {
        metadata: { name },
        webhooks: [
          {
            name: `${name}.example.com`,
            clientConfig: hooks.clientConfig(`/${name}`),
            admissionReviewVersions: ['v1', 'v1beta1'],
            sideEffects: 'None',
            timeoutSeconds: 5,
            namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
            rules: [all],
            ...webhook,
          },
        ],
      })
      return `/${name}`
    },
  }
}

const map = (name: string, data: JsonObject = { k: 'v' }) => ({ metadata: { name }, data })
const append = (value: string) => patch({ op: 'add', path: `/data/${value}`, value })

describe('a webhook response', () => {
  const cases: readonly (readonly [string, JsonObject, 'mutating' | 'validating', RegExp])[] = [
    [
      'without a response',
      { raw: { kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1' } },
      'validating',
      /received invalid webhook response: webhook response was absent$/,
    ],
    [
      'of no kind',
      { raw: { response: { uid: '', allowed: true } } },
      'validating',
      /received invalid webhook response: expected response.uid="[^"]+", got ""$/,
    ],
    ['that is no JSON object', { raw: 'hello' }, 'validating', /failed to call webhook: /],
    [
      'with another uid',
      { uid: 'x' },
      'validating',
      /received invalid webhook response: expected response.uid="[^"]+", got "x"$/,
    ],
    [
      'that patches while validating',
      patch({ op: 'test', path: '/a' }),
      'validating',
      /validating webhook may not return response.patch$/,
    ],
    [
      'with a patch without a type',
      { allowed: true, patch: 'W10=' },
      'mutating',
      /webhook returned response.patch but not response.patchType$/,
    ],
    [
      'with a type without a patch',
      { allowed: true, patchType: 'JSONPatch' },
      'mutating',
      /webhook returned response.patchType but not response.patch$/,
    ],
    [
      'with a patch that is none',
      { allowed: true, patchType: 'JSONPatch', patch: btoa('{}') },
      'mutating',
      /received undecodable patch in webhook response: /,
    ],
    [
      'with a patch that does not apply',
      patch({ op: 'remove', path: '/data/none' }),
      'mutating',
      /^Internal error occurred: .*remove/,
    ],
    [
      'with a patch that makes it something else',
      patch({ op: 'replace', path: '/kind', value: 'Secret' }),
      'mutating',
      /^Internal error occurred: unable to decode/,
    ],
    [
      'with a patch of a wrong type',
      patch({ op: 'replace', path: '/data', value: [] }),
      'mutating',
      /^Internal error occurred: json: cannot unmarshal array/,
    ],
  ]
  for (const [what, answer, kind, expected] of cases) {
    it(`${what} is a failure`, async () => {
      const place = await createPlace()
      await place.add(kind, () => answer)
      const refused = await server.send('POST', place.configmaps, map('a'))
      assert.equal(refused.status, 500, JSON.stringify(refused.body))
      assert.match(refused.body.message, expected)
    })
  }

  it('that denies is passed on with its code, reason and details, and is never a success', async () => {
    const place = await createPlace()
    const statuses: readonly (JsonObject | undefined)[] = [
      { code: 409, reason: 'Conflict', message: 'busy', details: { causes: [{ message: 'm', field: 'f' }] } },
      { code: 200, status: 'Success', reason: 'Because' },
      undefined,
    ]
    let turn = 0
    await place.add('validating', () => ({ allowed: false, status: statuses[turn++] }))
    const answers = [0, 1, 2].map(index => server.send('POST', place.configmaps, map(`m${index}`)))
    const [conflict, reason, nothing] = (await Promise.all(answers)).sort((a, b) => b.status - a.status)
    assert.equal(conflict!.status, 409)
    assert.deepEqual(conflict!.body.details, { causes: [{ message: 'm', field: 'f' }] })
    assert.match(conflict!.body.message, /denied the request: busy$/)
    const texts = [reason!, nothing!]
      .map(({ status, body }) => `${status} ${body.status} ${body.message}`)
      .sort()
    assert.match(texts[0]!, /^400 Failure admission webhook ".*" denied the request without explanation$/)
    assert.match(texts[1]!, /^400 Failure admission webhook ".*" denied the request: Because$/)
  })

  it('may be v1beta1, which is not checked', async () => {
    const place = await createPlace()
    const operation = { op: 'add', path: '/data/old', value: 'yes' }
    const path = await place.add(
      'mutating',
      () => ({ uid: 'whatever', allowed: true, patch: btoa(JSON.stringify([operation])) }),
      { admissionReviewVersions: ['v1beta1'] },
    )
    assert.equal((await server.must('POST', place.configmaps, map('a'))).data.old, 'yes')
    assert.equal(hooks.asked(path).length, 1)
  })

  it('may have any number of warnings', async () => {
    const place = await createPlace()
    const long = 'x'.repeat(3000)
    await place.add('validating', () => ({ ...allow, warnings: ['short', `${long}1`, `${long}2`, 'short'] }))
    const { warnings } = await server.send('POST', place.configmaps, map('a'))
    assert.deepEqual(warnings, ['short', 'x'.repeat(256), 'x'.repeat(256)])
  })
})

describe('a call of a webhook', () => {
  it("has the server's credentials for its plug-in, and none of the client's", async () => {
    const place = await createPlace()
    await place.add('validating', () => allow)
    await place.add('mutating', () => allow)
    const headers = { cookie: 'c=1', 'impersonate-user': 'jane', 'impersonate-group': 'system:masters' }
    const from = hooks.requests.length
    await server.must('POST', place.configmaps, map('a'), headers)
    const seen = hooks.requests.slice(from).map(({ wire }) => wire.headers)
    assert.deepEqual(
      seen.map(sent => sent.authorization),
      [undefined, 'Bearer secret-of-the-server'],
    )
    for (const sent of seen) {
      assert.equal(sent.cookie, undefined)
      assert.equal(sent['impersonate-user'], undefined)
      assert.equal(sent['user-agent'], 'kube-apiserver-admission')
    }
  })

  it('has the user of the request', async () => {
    const place = await createPlace()
    const path = await place.add('validating', () => allow)
    await server.must('POST', place.configmaps, map('a'), {
      'impersonate-user': 'jane',
      'impersonate-group': 'system:masters',
      'impersonate-extra-team': 'blue',
    })
    const { userInfo } = hooks.asked(path)[0]
    assert.equal(userInfo.username, 'jane')
    assert.ok(userInfo.groups.includes('system:masters'))
    assert.deepEqual(userInfo.extra, { team: ['blue'] })
  })

  it('does not follow redirects (CVE-2020-8561)', async () => {
    const place = await createPlace()
    let reached = false
    const inner: Handler = async () => {
      reached = true
      return { status: 200, headers: {}, body: new Uint8Array() }
    }
    await using target = await serve({ handler: inner })
    const redirect: Handler = async () => ({ status: 307, headers: { location: `${target.url}/inside` } })
    await using outer = await serve({ handler: redirect, tls: hookTls })
    const clientConfig = { url: `${outer.url}/x`, caBundle }
    await place.add('validating', () => allow, { clientConfig })
    const refused = await server.send('POST', place.configmaps, map('a'))
    assert.equal(refused.status, 500)
    assert.match(refused.body.message, /redirect \(307\), which is not followed$/)
    assert.equal(reached, false)
  })

  it('trusts only the CA bundle, and verifies the server name', async () => {
    const place = await createPlace()
    const url = `https://127.0.0.1:${hooks.port}/x`
    const other = createCertificate(
      {
        subject: { commonName: 'o' },
        usages: ['ca'],
        notBefore: Date.now() - 1000,
        notAfter: Date.now() + 100_000,
      },
      createSeededRandom(4),
    )
    const bundle = Buffer.from(other.certificate).toString('base64')
    await place.add('validating', () => allow, { clientConfig: { url, caBundle: bundle } })
    const untrusted = await server.send('POST', place.configmaps, map('a'))
    assert.match(untrusted.body.message, /x509: certificate signed by unknown authority$/)
    const second = await createPlace()
    await createService(second, 'wrong-name')
    const service = { namespace: second.namespace, name: 'wrong-name', path: '/x' }
    await second.add('validating', () => allow, { clientConfig: { service, caBundle } })
    const misnamed = await server.send('POST', second.configmaps, map('a'))
    assert.match(
      misnamed.body.message,
      /x509: certificate is valid for localhost, .*, not wrong-name.place-\d+.svc$/,
    )
  })

  it('trusts a webhook whose own certificate is its CA bundle', async () => {
    const place = await createPlace()
    const path = await place.add('mutating', () => append('trusted'))
    const bundle = Buffer.from(hookTls.cert).toString('base64')
    const pinned = await createPlace()
    const url = `https://127.0.0.1:${hooks.port}${path}`
    await pinned.add('mutating', () => allow, { clientConfig: { url, caBundle: bundle } })
    assert.equal((await server.must('POST', pinned.configmaps, map('a'))).data.trusted, 'trusted')
  })

  it('is called at its clean path', async () => {
    const place = await createPlace()
    current.set('/clean', () => append('clean'))
    const url = `https://127.0.0.1:${hooks.port}//x/..//clean/`
    await place.add('mutating', () => allow, { clientConfig: { url, caBundle } })
    assert.equal((await server.must('POST', place.configmaps, map('a'))).data.clean, 'clean')
    await place.add('validating', () => allow, { clientConfig: { url: 'https://127.0.0.1:1//failing' } })
    const refused = await server.send('POST', place.configmaps, map('b'))
    assert.match(refused.body.message, /Post "https:\/\/127.0.0.1:1\/failing\?timeout=5s": /)
  })

  it('resolves a service to its endpoints', async () => {
    const inDefault = { ...(await createPlace()), namespace: 'default', path: '/api/v1/namespaces/default' }
    const service = { namespace: 'default', name: 'hooks', path: '/service-hook' }
    current.set('/service-hook', () => append('served'))
    const clientConfig = { service, caBundle }
    const place = await createPlace()
    await place.add('mutating', () => allow, { clientConfig, failurePolicy: 'Fail' })
    const absent = await server.send('POST', place.configmaps, map('a'))
    assert.match(
      absent.body.message,
      /Post "https:\/\/hooks.default.svc:443\/service-hook\?timeout=5s": service "hooks" not found$/,
    )
    await createService(inDefault, 'hooks')
    assert.equal((await server.must('POST', place.configmaps, map('b'))).data.served, 'served')
  })

  /** A Service whose endpoint is the webhook server. */
  async function createService(
    { namespace, path }: Pick<Place, 'namespace' | 'path'>,
    name: string,
  ): Promise<void> {
    await server.must('POST', `${path}/services`, {
      metadata: { name },
      spec: { ports: [{ port: 443, targetPort: 8443 }] },
    })
    const slices = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`
    const slice = (addresses: string[]) => ({
      metadata: { name: `${name}-1`, labels: { 'kubernetes.io/service-name': name } },
      addressType: 'IPv4',
      endpoints: [{ addresses, conditions: { ready: true } }],
      ports: [{ name: '', port: hooks.port }],
    })
    await server.must('POST', slices, slice([routedAddress]))
  }
})

describe('a webhook', () => {
  it('sees whether a request is a dry run', async () => {
    const place = await createPlace()
    const path = await place.add('validating', () => allow, {
      failurePolicy: 'Ignore',
      sideEffects: 'NoneOnDryRun',
    })
    await server.must('POST', `${place.configmaps}?dryRun=All`, map('a'))
    assert.equal(hooks.asked(path)[0].dryRun, true)
    assert.deepEqual(hooks.asked(path)[0].options.dryRun, ['All'])
  })

  it('with failurePolicy Ignore admits the request when it fails', async () => {
    const place = await createPlace()
    const clientConfig = { url: 'https://127.0.0.1:1/' }
    await place.add('mutating', () => allow, { clientConfig, failurePolicy: 'Ignore' })
    await place.add('validating', () => allow, { clientConfig, failurePolicy: 'Ignore' })
    await server.must('POST', place.configmaps, map('a'))
  })

  it('is reinvoked once after a change when it asks for it, and others are not', async () => {
    const place = await createPlace()
    const calls: string[] = []
    const counting = (name: string, answer: JsonObject) => () => {
      calls.push(name)
      return answer
    }
    await place.add('mutating', counting('if-needed', append('a')), { reinvocationPolicy: 'IfNeeded' })
    await place.add('mutating', counting('never', append('b')))
    await place.add('mutating', counting('last', append('c')), { reinvocationPolicy: 'IfNeeded' })
    const made = await server.must('POST', place.configmaps, map('a'))
    assert.deepEqual(made.data, { k: 'v', a: 'a', b: 'b', c: 'c' })
    assert.deepEqual(calls, ['if-needed', 'never', 'last', 'if-needed'])
  })

  it('sees each object of a deletecollection', async () => {
    const place = await createPlace()
    await server.must('POST', place.configmaps, map('one'))
    await server.must('POST', place.configmaps, map('two'))
    const rules = [
      { operations: ['DELETE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] },
    ]
    const path = await place.add(
      'validating',
      ({ oldObject }) => (oldObject.metadata.name === 'two' ? { allowed: false } : allow),
      { rules },
    )
    const refused = await server.send('DELETE', `${place.configmaps}?gracePeriodSeconds=0`)
    assert.equal(refused.status, 400)
    const asked = hooks.asked(path)
    assert.deepEqual(
      asked.map(({ oldObject }) => oldObject.metadata.name),
      ['one', 'two'],
    )
    assert.equal(asked[0].object, null)
    assert.equal(asked[0].options.kind, 'DeleteOptions')
    const left = await server.must('GET', place.configmaps)
    assert.deepEqual(
      left.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name),
      ['two'],
    )
  })

  it('sees the object as it is, whatever kind of write it is (CVE-2021-25735)', async () => {
    const place = await createPlace()
    await server.must('POST', place.configmaps, {
      ...map('a'),
      metadata: { name: 'a', labels: { locked: 'yes' } },
    })
    const path = await place.add('validating', ({ oldObject }) =>
      oldObject?.metadata.labels?.locked === 'yes' ? { allowed: false } : allow,
    )
    const stale = { ...map('a', { k: 'w' }), metadata: { name: 'a', labels: {} } }
    assert.equal((await server.send('PUT', `${place.configmaps}/a`, stale)).status, 400)
    const forged = { metadata: { labels: { locked: 'no' } } }
    assert.equal((await server.send('PATCH', `${place.configmaps}/a`, forged)).status, 400)
    for (const { oldObject } of hooks.asked(path)) assert.equal(oldObject.metadata.labels.locked, 'yes')
  })

  it('sees subresources with their own kinds', async () => {
    const place = await createPlace()
    const deployments = `/apis/apps/v1/namespaces/${place.namespace}/deployments`
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
    const spec = { replicas: 1, selector: { matchLabels: { a: 'b' } }, template }
    await server.must('POST', deployments, { metadata: { name: 'd' }, spec })
    await server.must('POST', `${place.path}/pods`, { metadata: { name: 'p' }, spec: template.spec })
    const path = await place.add('mutating', ({ subResource, object }) => {
      if (subResource === 'scale') return patch({ op: 'replace', path: '/spec/replicas', value: 7 })
      if (subResource === 'binding') return patch({ op: 'replace', path: '/target/name', value: 'other' })
      return object ? allow : { allowed: false }
    })
    const scale = { metadata: { name: 'd', namespace: place.namespace }, spec: { replicas: 2 } }
    assert.equal((await server.must('PUT', `${deployments}/d/scale`, scale)).spec.replicas, 7)
    const binding = { metadata: { name: 'p' }, target: { kind: 'Node', name: 'n' } }
    await server.must('POST', `${place.path}/pods/p/binding`, binding)
    assert.equal((await server.must('GET', `${place.path}/pods/p`)).spec.nodeName, 'other')
    await server.must('PATCH', `${deployments}/d/status`, { status: { replicas: 3 } })
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' } }
    await server.must('POST', `${place.path}/pods/p/eviction`, eviction)
    const received = hooks
      .asked(path)
      .map(({ operation, subResource, kind }) => `${operation} ${subResource} ${kind.kind}`)
    assert.deepEqual(received, [
      'UPDATE scale Scale',
      'CREATE binding Binding',
      'UPDATE status Deployment',
      'CREATE eviction Eviction',
    ])
  })

  it('matches events of both groups when its rule names one', async () => {
    const place = await createPlace()
    const rules = [
      { operations: ['CREATE'], apiGroups: ['events.k8s.io'], apiVersions: ['v1'], resources: ['events'] },
    ]
    const path = await place.add('validating', () => allow, { rules })
    await server.must('POST', `${place.path}/events`, {
      metadata: { name: 'e' },
      involvedObject: { kind: 'Pod', namespace: place.namespace, name: 'p' },
      reason: 'Because',
      message: 'text',
      type: 'Normal',
    })
    const [request] = hooks.asked(path)
    assert.equal(request.kind.group, 'events.k8s.io')
    assert.equal(request.object.note, 'text')
    assert.equal(request.requestKind.group, '')
  })

  it('is skipped by match conditions, which may use the authorizer', async () => {
    const place = await createPlace()
    const matchConditions = [
      {
        name: 'not-allowed',
        expression: "!authorizer.group('').resource('nodes').check('breakglass').allowed()",
      },
      { name: 'may-read', expression: "authorizer.requestResource.check('get').allowed()" },
    ]
    await place.add('validating', () => ({ allowed: false }), { matchConditions })
    await server.must('POST', place.configmaps, map('a')) // system:masters may do everything
    const second = await createPlace()
    const broken = [{ name: 'broken', expression: "object.data.absent == 'x'" }]
    await second.add('validating', () => allow, { matchConditions: broken })
    const refused = await server.send('POST', second.configmaps, map('a'))
    assert.equal(refused.status, 403)
    assert.match(
      refused.body.message,
      /^configmaps "a" is forbidden: expression 'object.data.absent == 'x'' resulted in error: no such key: absent$/,
    )
  })

  it('matches namespaced or cluster-scoped resources by its scope', async () => {
    const place = await createPlace()
    const scoped = (scope: string) => [
      {
        operations: ['CREATE'],
        apiGroups: [''],
        apiVersions: ['v1'],
        resources: ['configmaps', 'namespaces'],
        scope,
      },
    ]
    const namespaced = await place.add('validating', () => allow, { rules: scoped('Namespaced') })
    const labels = { scoped: place.namespace }
    const cluster = await place.add('validating', () => allow, {
      rules: scoped('Cluster'),
      namespaceSelector: { matchLabels: labels },
    })
    await server.must('POST', place.configmaps, map('a'))
    await server.must('POST', '/api/v1/namespaces', { metadata: { name: `${place.namespace}-x`, labels } })
    assert.deepEqual(
      hooks.asked(namespaced).map(({ kind }) => kind.kind),
      ['ConfigMap'],
    )
    const [request] = hooks.asked(cluster)
    assert.equal(request.kind.kind, 'Namespace')
    assert.equal(request.namespace, `${place.namespace}-x`) // a namespace is in itself
  })
})
