import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { startServer } from '../admission/test-support/server.ts'
import { type CrdServer, crds, startCrdServer } from '../custom-resources/test-support/crd-server.ts'

const configMaps = '/api/v1/namespaces/default/configmaps'
const deployments = '/apis/apps/v1/namespaces/default/deployments'
const boxes = '/apis/example.com/v1/namespaces/default/boxes'
const [merge, strategic, json, apply] = [
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/json-patch+json',
  'application/apply-patch+yaml',
]

const schema = {
  type: 'object',
  properties: { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
}

let server: CrdServer
before(async () => {
  server = await startCrdServer()
  const crd = {
    metadata: { name: 'boxes.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'boxes', singular: 'box', kind: 'Box', listKind: 'BoxList' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  }
  await send(201, 'POST', crds, crd)
  const box = { apiVersion: 'example.com/v1', kind: 'Box', metadata: { name: 'a' }, spec: { size: 1 } }
  await send(201, 'POST', boxes, box)
  const labels = { app: 'web' }
  const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'nginx' }] } }
  const spec = { selector: { matchLabels: labels }, template }
  await send(201, 'POST', deployments, { metadata: { name: 'web' }, spec })
})
after(() => server[Symbol.asyncDispose]())

async function send(status: number, ...request: Parameters<CrdServer['send']>) {
  const answer = await server.send(...request)
  assert.equal(answer.status, status, JSON.stringify(answer.body))
  return answer
}

describe('a resourceVersion on create', () => {
  const message = 'resourceVersion should not be set on objects to be created'
  const withVersion = (resourceVersion: string, rest: object = {}) => ({
    metadata: { name: 'versioned', resourceVersion },
    ...rest,
  })

  it('is rejected, but only after validation', async () => {
    const rejected = await send(400, 'POST', configMaps, withVersion('12'))
    assert.equal(rejected.body.message, message)
    const invalid = await send(422, 'POST', configMaps, withVersion('12', { data: { 'a b': 'x' } }))
    assert.match(invalid.body.message, /data\[a b\]: Invalid value/)
  })

  it('does not matter on a dry run, nor when it is not a version', async () => {
    await send(201, 'POST', `${configMaps}?dryRun=All`, withVersion('12'))
    for (const version of ['0', 'abc', '99999999999999999999']) {
      const created = await send(201, 'POST', configMaps, withVersion(version))
      assert.match(created.body.metadata.resourceVersion, /^[1-9]\d{0,9}$/)
      await send(200, 'DELETE', `${configMaps}/versioned`)
    }
  })
})

describe('a strategic merge patch that cannot be applied', () => {
  const web = `${deployments}/web?dryRun=All`
  const cases: readonly (readonly [patch: object, quoted: string, detail: string])[] = [
    [{ spec: { replicas: 'x' } }, 'map[spec:map[replicas:x]]', 'unrecognized type: int32'],
    [{ spec: { replicas: 1.5 } }, 'map[spec:map[replicas:1.5]]', 'cannot convert float64 to int32'],
    [{ spec: 'x' }, 'map[spec:x]', 'cannot restore struct from: string'],
    [
      { metadata: { labels: { a: 1 } } },
      'map[metadata:map[labels:map[a:1]]]',
      'cannot convert int64 to string',
    ],
    [{ metadata: { labels: 'x' } }, 'map[metadata:map[labels:x]]', 'cannot restore map from string'],
    [
      { metadata: { finalizers: true } },
      'map[metadata:map[finalizers:true]]',
      'cannot restore slice from bool',
    ],
  ]
  for (const [patch, quoted, detail] of cases) {
    it(`is rejected: ${JSON.stringify(patch)}`, async () => {
      const { body } = await send(422, 'PATCH', web, patch, strategic)
      assert.equal(body.message, ` "" is invalid: patch: Invalid value: ${JSON.stringify(quoted)}: ${detail}`)
    })
  }

  it('is not an object', async () => {
    const { body } = await send(400, 'PATCH', web, [], strategic)
    assert.equal(body.message, 'json: cannot unmarshal array into Go value of type map[string]interface {}')
  })

  it('is quoted when it brings unknown fields', async () => {
    const patch = { spec: { nothing: 1 } }
    const { body } = await send(422, 'PATCH', `${web}&fieldValidation=Strict`, patch, strategic)
    assert.equal(
      body.message,
      ' "" is invalid: patch: Invalid value: "map[spec:map[nothing:1]]": strict decoding error: unknown field "spec.nothing"',
    )
  })
})

describe('a patch with duplicate members', () => {
  const cases = [
    [merge, '{"metadata":{"labels":{"a":"1","a":"2"}}}', 'duplicate field "metadata.labels.a"'],
    [strategic, '{"metadata":{"labels":{"a":"1","a":"2"}}}', 'duplicate field "metadata.labels.a"'],
    [
      json,
      '[{"op":"add","op":"add","path":"/metadata/labels","value":{"a":"1"},"why":1}]',
      'json patch unknown field "[0].why", json patch duplicate field "[0].op"',
    ],
  ] as const
  for (const [type, text, problems] of cases) {
    it(`is rejected or warned of: ${type}`, async () => {
      const url = `${deployments}/web?dryRun=All`
      const { body } = await send(422, 'PATCH', `${url}&fieldValidation=Strict`, text, type)
      assert.ok(body.message.endsWith(`: strict decoding error: ${problems}`), body.message)
      const warned = await send(200, 'PATCH', `${url}&fieldValidation=Warn`, text, type)
      assert.deepEqual(
        warned.warnings,
        problems.split(', ').map(problem => `299 - ${JSON.stringify(problem)}`),
      )
      const ignored = await send(200, 'PATCH', `${url}&fieldValidation=Ignore`, text, type)
      assert.deepEqual(ignored.warnings, [])
    })
  }
})

describe('an applied configuration with a duplicate key', () => {
  const text = `apiVersion: example.com/v1
kind: Box
metadata:
  name: NAME
spec:
  size: 1
  foo: a
  bar: b
  foo: c
`
  const url = (name: string, fieldValidation: string) =>
    `${boxes}/${name}?fieldManager=m&force=true&fieldValidation=${fieldValidation}`

  for (const name of ['a', 'applied']) {
    it(`is rejected by strict field validation, and warned of otherwise: ${name}`, async () => {
      const configuration = text.replace('NAME', name)
      const { body } = await send(400, 'PATCH', url(name, 'Strict'), configuration, apply)
      assert.equal(
        body.message,
        'error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  line 9: key "foo" already set in map',
      )
      const warned = await server.send('PATCH', url(name, 'Warn'), configuration, apply)
      assert.equal(warned.body.spec.foo, 'c')
      assert.deepEqual(warned.warnings, ['299 - "line 9: key \\"foo\\" already set in map"'])
    })
  }
})

describe('a patch of a scale', () => {
  it('without a resourceVersion is never a conflict, however many come at once; with one it is', async () => {
    await using busy = await startServer()
    const { spec } = (await send(200, 'GET', `${deployments}/web`)).body
    await busy.must('POST', deployments, { metadata: { name: 'web' }, spec })
    const scale = `${deployments}/web/scale`
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, replicas) => busy.send('PATCH', scale, { spec: { replicas } })),
    )
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
    const metadata = { resourceVersion: '1' }
    assert.equal((await busy.send('PATCH', scale, { metadata, spec: { replicas: 5 } })).status, 409)
  })
})

describe('a patch that changes the type of a custom object', () => {
  const box = `${boxes}/a`

  it('to another version is invalid, with a warning about unknown fields of that version', async () => {
    const { body, warnings } = await send(422, 'PATCH', box, { apiVersion: 'example.com/v9' }, merge)
    assert.equal(
      body.message,
      'Box.example.com "a" is invalid: apiVersion: Invalid value: "example.com/v9": must be example.com/v1',
    )
    assert.deepEqual(
      body.details.causes.map((cause: { field: string }) => cause.field),
      ['apiVersion'],
    )
    assert.deepEqual(warnings, ['299 - "unknown field \\"spec\\""'])
  })

  it('to another group or kind is invalid without a warning', async () => {
    const operations = [{ op: 'replace', path: '/apiVersion', value: 'other.com/v1' }]
    const group = await send(422, 'PATCH', box, operations, json)
    assert.equal(
      group.body.message,
      'Box.other.com "a" is invalid: apiVersion: Invalid value: "other.com/v1": must be example.com/v1',
    )
    const kind = await send(422, 'PATCH', box, { kind: 'Bag' }, merge)
    assert.equal(kind.body.message, 'Bag.example.com "a" is invalid: kind: Invalid value: "Bag": must be Box')
    assert.deepEqual([...group.warnings, ...kind.warnings], [])
  })
})

describe('an apply that changes nothing', () => {
  const applyTwice = async (url: string, configuration: object): Promise<[string, string]> => {
    const [path, text] = [`${url}?fieldManager=test`, JSON.stringify(configuration)]
    const first = await send(201, 'PATCH', path, text, apply)
    await server.world.advance(5_000)
    const second = await send(200, 'PATCH', path, text, apply)
    return [first.body.metadata.resourceVersion, second.body.metadata.resourceVersion]
  }

  it('writes nothing, though the server stores the quantities in another form', async () => {
    const hard = { cpu: '0.5', 'requests.memory': '1024Mi' }
    const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'half' }, spec: { hard } }
    const [first, second] = await applyTwice('/api/v1/namespaces/default/resourcequotas/half', quota)
    assert.equal(second, first)
  })

  it('writes nothing when a value is empty, or defaulted by the server', async () => {
    const claims = '/api/v1/namespaces/default/persistentvolumeclaims/none'
    const spec = {
      storageClassName: '',
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1024Mi' } },
    }
    const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'none' }, spec }
    const [first, second] = await applyTwice(claims, claim)
    assert.equal(second, first)
  })

  it('still records a new time when the object changes', async () => {
    const url = `${configMaps}/timed?fieldManager=test`
    const configMap = (text: string) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'timed' },
      data: { text },
    })
    const first = await send(201, 'PATCH', url, JSON.stringify(configMap('a')), apply)
    await server.world.advance(5_000)
    const second = await send(200, 'PATCH', url, JSON.stringify(configMap('b')), apply)
    assert.notEqual(second.body.metadata.managedFields[0].time, first.body.metadata.managedFields[0].time)
    assert.notEqual(second.body.metadata.resourceVersion, first.body.metadata.resourceVersion)
  })
})
