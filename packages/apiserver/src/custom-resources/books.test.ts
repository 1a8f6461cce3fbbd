import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Answered, crds, startCrdServer } from './test-support/crd-server.ts'

/** CRDs that readers of books on programming Kubernetes try, with a valid object and some invalid ones. */
interface Book {
  readonly group: string
  readonly version: string
  readonly names: {
    readonly plural: string
    readonly kind: string
    readonly shortNames?: string[]
    readonly categories?: string[]
  }
  readonly scope?: 'Cluster'
  readonly annotations?: Readonly<Record<string, string>>
  readonly spec: object
  readonly status?: object
  readonly versionMembers?: object
  readonly sample: object
  /** The error of a spec. */
  readonly bad?: readonly (readonly [spec: object, message: RegExp])[]
  /** Cells of the Table after the name. */
  readonly cells?: readonly unknown[]
}

const text = { type: 'string' }
const number = { type: 'integer' }
const object = (properties: object, required?: string[]) => ({
  type: 'object',
  properties,
  ...(required && { required }),
})

const books: readonly Book[] = [
  {
    group: 'stable.example.com',
    version: 'v1',
    names: { plural: 'crontabs', kind: 'CronTab', shortNames: ['ct'] },
    spec: object({
      cronSpec: { ...text, pattern: '^(\\d+|\\*)(/\\d+)?(\\s+(\\d+|\\*)(/\\d+)?){4}$' },
      image: text,
      replicas: { ...number, minimum: 1, maximum: 10, default: 1 },
    }),
    status: object({ replicas: number, labelSelector: text }),
    versionMembers: {
      subresources: {
        status: {},
        scale: {
          specReplicasPath: '.spec.replicas',
          statusReplicasPath: '.status.replicas',
          labelSelectorPath: '.status.labelSelector',
        },
      },
      additionalPrinterColumns: [
        { name: 'Spec', type: 'string', jsonPath: '.spec.cronSpec' },
        { name: 'Replicas', type: 'integer', jsonPath: '.spec.replicas' },
      ],
    },
    sample: { cronSpec: '* * * * */5', image: 'my-awesome-cron-image' },
    bad: [
      [{ cronSpec: '* * * *' }, /spec\.cronSpec in body should match/],
      [
        { cronSpec: '* * * * */5', replicas: 15 },
        /spec\.replicas in body should be less than or equal to 10/,
      ],
    ],
    cells: ['* * * * */5', 1],
  },
  {
    group: 'samplecrd.k8s.io',
    version: 'v1',
    names: { plural: 'networks', kind: 'Network' },
    annotations: { 'api-approved.kubernetes.io': 'unapproved, an exercise' },
    spec: object({ cidr: text, gateway: text }),
    sample: { cidr: '192.168.0.0/16', gateway: '192.168.0.1' },
  },
  {
    group: 'demo.example.com',
    version: 'v1',
    names: { plural: 'demos', kind: 'Demo', shortNames: ['dm'], categories: ['all'] },
    spec: object({ name: { ...text, pattern: '^test$' } }),
    versionMembers: { additionalPrinterColumns: [{ name: 'Name', type: 'string', jsonPath: '.spec.name' }] },
    sample: { name: 'test' },
    bad: [[{ name: 'tests' }, /spec\.name in body should match '\^test\$'/]],
    cells: ['test'],
  },
  {
    group: 'ml.example.com',
    version: 'v1alpha1',
    names: { plural: 'pipelines', kind: 'Pipeline' },
    scope: 'Cluster',
    spec: object(
      { steps: { type: 'array', items: object({ name: text, model: text }, ['name', 'model']) } },
      ['steps'],
    ),
    status: object({ phase: text }),
    versionMembers: {
      subresources: { status: {} },
      additionalPrinterColumns: [
        { name: 'Models', type: 'string', jsonPath: '.spec.steps[*].model' },
        { name: 'First', type: 'string', jsonPath: '.spec.steps[0].model' },
        { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
      ],
    },
    sample: {
      steps: [
        { name: 'a', model: 'bert' },
        { name: 'b', model: 'gpt' },
      ],
    },
    bad: [
      [{}, /spec\.steps: Required value/],
      [{ steps: [{ name: 'a' }] }, /spec\.steps\[0\]\.model: Required value/],
    ],
    cells: ['bert', 'bert', null],
  },
  {
    group: 'cnat.programming-kubernetes.info',
    version: 'v1alpha1',
    names: { plural: 'ats', kind: 'At' },
    spec: object({ schedule: text, command: text }),
    status: object({ phase: text }),
    versionMembers: {
      subresources: { status: {} },
      additionalPrinterColumns: [
        { name: 'schedule', type: 'string', jsonPath: '.spec.schedule' },
        { name: 'phase', type: 'string', jsonPath: '.status.phase' },
      ],
    },
    sample: { schedule: '2019-07-03T02:00:00Z', command: 'echo YAY' },
    cells: ['2019-07-03T02:00:00Z', null],
  },
  {
    group: 'ingress.example.com',
    version: 'v1beta1',
    names: { plural: 'apps', kind: 'App' },
    spec: object({
      enable_ingress: { type: 'boolean', default: false },
      enable_service: { type: 'boolean' },
      replicas: number,
      image: text,
    }),
    sample: { enable_ingress: true, enable_service: true, replicas: 3, image: 'nginx:latest' },
    bad: [[{ enable_ingress: 'yes' }, /spec\.enable_ingress: Invalid value: "string"/]],
  },
  {
    group: 'samplecontroller.example.com',
    version: 'v1alpha1',
    names: { plural: 'foos', kind: 'Foo' },
    spec: object({ deploymentName: text, replicas: { ...number, minimum: 1, maximum: 10 } }),
    status: object({ availableReplicas: number }),
    versionMembers: { subresources: { status: {} } },
    sample: { deploymentName: 'example-foo', replicas: 1 },
    bad: [
      [{ deploymentName: 'x', replicas: 0 }, /spec\.replicas in body should be greater than or equal to 1/],
    ],
  },
]

function crdOf({ group, version, names, scope, annotations, spec, status, versionMembers }: Book): Answered {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${names.plural}.${group}`, ...(annotations && { annotations }) },
    spec: {
      group,
      names,
      scope: scope ?? 'Namespaced',
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: object({ spec, ...(status && { status }) }) },
          ...versionMembers,
        },
      ],
    },
  }
}

describe('the custom resources of books', () => {
  for (const book of books) {
    const { group, version, names } = book
    it(`${names.kind} (${group}/${version}) behaves`, async () => {
      await using server = await startCrdServer()
      assert.equal((await server.send('POST', crds, crdOf(book))).status, 201)
      const base = `/apis/${group}/${version}`
      const path = book.scope ? `${base}/${names.plural}` : `${base}/namespaces/default/${names.plural}`
      const make = (name: string, spec: object) => ({
        apiVersion: `${group}/${version}`,
        kind: names.kind,
        metadata: { name },
        spec,
      })
      const listed = (await server.send('GET', base)).body.resources[0]
      assert.deepEqual([listed.shortNames, listed.categories], [names.shortNames, names.categories])
      const made = await server.send('POST', path, make('one', book.sample))
      assert.equal(made.status, 201, made.body.message)
      for (const [spec, message] of book.bad ?? []) {
        const refused = await server.send('POST', path, make('two', spec))
        assert.equal(refused.status, 422)
        assert.match(refused.body.message, message)
      }
      if (book.status) {
        const [field = ''] = Object.keys((book.status as Answered).properties)
        const value = (book.status as Answered).properties[field].type === 'integer' ? 1 : 'x'
        const patched = await server.send(
          'PATCH',
          `${path}/one/status`,
          { status: { [field]: value } },
          'application/merge-patch+json',
        )
        assert.equal(patched.body.status[field], value)
      }
      const applied = await server.send(
        'PATCH',
        `${path}/three?fieldManager=me`,
        make('three', book.sample),
        'application/apply-patch+yaml',
      )
      assert.equal(applied.status, 201)
    })
  }

  it('print the columns that they define', async () => {
    for (const book of books) {
      if (!book.cells) continue
      await using server = await startCrdServer()
      await server.send('POST', crds, crdOf(book))
      const { group, version, names } = book
      const path = book.scope
        ? `/apis/${group}/${version}/${names.plural}`
        : `/apis/${group}/${version}/namespaces/default/${names.plural}`
      await server.send('POST', path, {
        apiVersion: `${group}/${version}`,
        kind: names.kind,
        metadata: { name: 'one' },
        spec: book.sample,
      })
      const { body } = await server.send('GET', path, undefined, undefined, {
        accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json',
      })
      assert.deepEqual(body.rows[0].cells, ['one', ...book.cells], names.kind)
    }
  })

  it('explain in the error that a protected group needs an approval', async () => {
    await using server = await startCrdServer()
    const { annotations: _, ...network } = books[1]!
    const { status, body } = await server.send('POST', crds, crdOf(network))
    assert.equal(status, 422)
    assert.match(
      body.message,
      /protected groups must have approval annotation "api-approved\.kubernetes\.io"/,
    )
  })

  it('keep an object with a finalizer until a controller removes it', async () => {
    await using server = await startCrdServer()
    await server.send('POST', crds, crdOf(books[2]!))
    const path = '/apis/demo.example.com/v1/namespaces/default/demos'
    await server.send('POST', path, {
      apiVersion: 'demo.example.com/v1',
      kind: 'Demo',
      metadata: { name: 'one', finalizers: ['demo.example.com/finalizer'] },
      spec: { name: 'test' },
    })
    const { body } = await server.send('DELETE', `${path}/one`)
    assert.ok(body.metadata.deletionTimestamp)
    await server.send(
      'PATCH',
      `${path}/one`,
      { metadata: { finalizers: null } },
      'application/merge-patch+json',
    )
    assert.equal((await server.send('GET', `${path}/one`)).status, 404)
  })
})
