/** Values that a typed client never sends and Go accepts: null for anything, and integers beyond 2^53. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { JsonObject } from '@coxswain/apimachinery/json'
import { type CrdServer, crds, startCrdServer } from './custom-resources/test-support/crd-server.ts'

const namespaced = (group: string, resource: string) => `/${group}/namespaces/default/${resource}?dryRun=All`
const labels = { app: 'web' }
const container = {
  name: 'main',
  image: 'nginx',
  command: ['run'],
  env: [{ name: 'A', value: '1' }],
  ports: [{ name: 'http', containerPort: 80 }],
  resources: { requests: { cpu: '1' }, limits: { cpu: '1' } },
  readinessProbe: { httpGet: { path: '/', port: 80 }, periodSeconds: 5 },
  securityContext: { runAsUser: 5, capabilities: { add: ['A'] } },
  volumeMounts: [{ name: 'v', mountPath: '/v' }],
}
const podSpec = {
  containers: [container],
  volumes: [
    { name: 'v', projected: { sources: [{ configMap: { name: 'c', items: [{ key: 'a', path: 'b' }] } }] } },
  ],
  affinity: {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        {
          topologyKey: 'zone',
          labelSelector: { matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] },
        },
      ],
    },
  },
  tolerations: [{ key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 }],
  terminationGracePeriodSeconds: 30,
  activeDeadlineSeconds: 60,
  topologySpreadConstraints: [
    {
      maxSkew: 1,
      topologyKey: 'zone',
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: { matchLabels: labels },
    },
  ],
}
const template = { metadata: { labels }, spec: podSpec }
const selector = { matchLabels: labels }
const items = { type: 'object', properties: { a: { type: 'string', maxLength: 5 } } }
const schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      required: ['list'],
      properties: {
        list: {
          type: 'array',
          maxItems: 5,
          items,
          'x-kubernetes-validations': [{ rule: 'self.all(x, x.a != "b")', message: 'no' }],
        },
        map: { type: 'object', maxProperties: 5, additionalProperties: items },
      },
    },
  },
}

const samples: readonly (readonly [url: string, body: JsonObject])[] = [
  [
    namespaced('api/v1', 'pods'),
    { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', labels }, spec: podSpec },
  ],
  ['/api/v1/namespaces?dryRun=All', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'a' } }],
  [
    '/api/v1/nodes?dryRun=All',
    {
      metadata: { name: 'a' },
      spec: { podCIDRs: ['10.0.0.0/24'] },
      status: { images: [{ names: ['a'], sizeBytes: 5 }] },
    },
  ],
  [
    namespaced('api/v1', 'services'),
    { metadata: { name: 'a' }, spec: { selector: labels, ports: [{ name: 'a', port: 80, targetPort: 80 }] } },
  ],
  [
    namespaced('apis/apps/v1', 'daemonsets'),
    {
      metadata: { name: 'a' },
      spec: { selector, template, updateStrategy: { rollingUpdate: { maxSurge: 0 } } },
    },
  ],
  [
    namespaced('apis/batch/v1', 'jobs'),
    {
      metadata: { name: 'a' },
      spec: { completions: 2, template: { spec: { ...podSpec, restartPolicy: 'Never' } } },
    },
  ],
  [
    '/apis/scheduling.k8s.io/v1/priorityclasses?dryRun=All',
    { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: 'a' }, value: 5 },
  ],
  [
    namespaced('apis/rbac.authorization.k8s.io/v1', 'roles'),
    { metadata: { name: 'a' }, rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] },
  ],
  [
    namespaced('apis/discovery.k8s.io/v1', 'endpointslices'),
    {
      metadata: { name: 'a' },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.1.2.3'] }],
      ports: [{ port: 80 }],
    },
  ],
  [
    `${crds}?dryRun=All`,
    {
      metadata: { name: 'boxes.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'boxes', singular: 'box', kind: 'Box', listKind: 'BoxList' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
      },
    },
  ],
]

type Step = string | number

function placesOf(value: unknown, at: readonly Step[] = []): (readonly Step[])[] {
  if (typeof value !== 'object' || value === null) return [at]
  const below = Object.entries(value).flatMap(([key, member]) =>
    placesOf(member, [...at, Array.isArray(value) ? Number(key) : key]),
  )
  return at.length === 0 ? below : [at, ...below]
}

const valueAt = (value: unknown, [first, ...rest]: readonly Step[]): unknown =>
  first === undefined ? value : valueAt((value as Record<Step, unknown>)[first], rest)

/** The JSON of `value` with `text` in one place; without that member when `text` is undefined. */
function rewrite(value: JsonObject, place: readonly Step[], text: string | undefined): string {
  const copy = JSON.parse(JSON.stringify(value)) as JsonObject
  const holder = valueAt(copy, place.slice(0, -1)) as Record<Step, unknown>
  const key = place.at(-1)!
  if (text === undefined) delete holder[key]
  else holder[key] = '@here'
  return JSON.stringify(copy).replace('"@here"', text ?? '')
}

/** Members of structs: null there means absent. In a list or a map it is the zero value of the element. */
const maps = new Set(['labels', 'matchLabels', 'selector', 'requests', 'limits', 'properties'])
const isMember = (place: readonly Step[]): boolean =>
  typeof place.at(-1) === 'string' && !maps.has(String(place.at(-2)))

let server: CrdServer
before(async () => {
  server = await startCrdServer()
})
after(() => server[Symbol.asyncDispose]())

const differing =
  /"(uid|(?:batch.kubernetes.io\/)?controller-uid|creationTimestamp|time|name|clusterIPs?|nodePort)":(\[[^\]]*\]|"[^"]*"|\d+),?/g
async function create(url: string, text: string) {
  const { status, body } = await server.send('POST', url, text)
  return {
    status,
    text: JSON.stringify(body)
      .replace(differing, '')
      .replace(/kube-api-access-\w+/g, ''),
  }
}

for (const [url, body] of samples) {
  describe(`POST ${url}`, () => {
    it('accepts null as absent in every position', async () => {
      for (const place of placesOf(body)) {
        const withNull = await create(url, rewrite(body, place, 'null'))
        assert.ok(withNull.status < 500, `${place.join('.')}: ${withNull.text}`)
        if (!isMember(place)) continue
        const without = await create(url, rewrite(body, place, undefined))
        assert.deepEqual(withNull, without, place.join('.'))
      }
    })

    it('accepts or rejects the largest number in every position', async () => {
      for (const place of placesOf(body).filter(at => typeof valueAt(body, at) === 'number')) {
        const answer = await create(url, rewrite(body, place, '9223372036854775807'))
        assert.ok(answer.status < 500, `${place.join('.')}: ${answer.text}`)
      }
    })
  })
}

describe('a CRD whose schema has numbers beyond 2^53', () => {
  it('leaves the OpenAPI documents of the server readable', async () => {
    const [, body] = samples.find(([url]) => url.startsWith(crds))!
    const number = { type: 'integer', minimum: '@min', maximum: '@max', default: '@max' }
    const properties = { n: number, list: { type: 'array', maxItems: '@max', items: { type: 'string' } } }
    const spec = { type: 'object', properties }
    const versions = [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
      },
    ]
    const text = JSON.stringify({ ...body, spec: { ...(body.spec as JsonObject), versions } })
      .replaceAll('"@max"', '9223372036854775807')
      .replaceAll('"@min"', '-9223372036854775808')
    assert.equal((await server.send('POST', crds, text)).status, 201)
    const protobuf = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf'
    for (const [url, accept] of [
      ['/openapi/v3', 'application/json'],
      ['/openapi/v3/apis/example.com/v1', 'application/json'],
      ['/openapi/v2', 'application/json'],
      ['/openapi/v2', protobuf],
    ] as const) {
      const { status } = await server.send('GET', url, undefined, undefined, { accept })
      assert.equal(status, 200, `${url} as ${accept}`)
    }
  })
})
