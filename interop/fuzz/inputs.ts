import { builtinProtobuf } from '@coxswain/api'
import type { Random } from '@coxswain/kit'

/** One request that no client should ever send. */
export interface BadRequest {
  /** What is wrong with it, for the report. */
  readonly family: string
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array
}

/** The longest body that may not hold others up. */
export const bodyLimit: number = 256 * 1024

const namespace = '/api/v1/namespaces/default'
const valid: readonly (readonly [path: string, object: object])[] = [
  [
    `${namespace}/pods`,
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'x', labels: { app: 'web' }, annotations: { note: 'a\u00e9\u{1f600}' } },
      spec: {
        containers: [
          {
            name: 'c',
            image: 'i',
            ports: [{ containerPort: 80 }],
            env: [{ name: 'A', value: 'b' }],
            resources: { limits: { cpu: '100m', memory: '1Gi' } },
          },
        ],
        tolerations: [{ key: 'k', operator: 'Exists', tolerationSeconds: 30 }],
      },
    },
  ],
  [
    `${namespace}/configmaps`,
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' }, data: { a: 'b' } },
  ],
  [
    '/apis/apps/v1/namespaces/default/deployments',
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'x' },
      spec: {
        replicas: 1,
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      },
    },
  ],
  [
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'things.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: {
              openAPIV3Schema: {
                type: 'object',
                properties: {
                  spec: { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } },
                },
              },
            },
          },
        ],
      },
    },
  ],
]

type Maker = (random: Random) => BadRequest

const text = (value: string) => new TextEncoder().encode(value)
const below = (random: Random, limit: number) => Math.floor(random.next() * limit)
const pick = <T>(random: Random, items: readonly T[]): T => items[below(random, items.length)]!
/** Small sizes are likelier, all up to the limit possible. */
const size = (random: Random, limit: number) => Math.max(1, Math.floor(limit * random.next() ** 3))

const json = { 'content-type': 'application/json' }
const patchTypes = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
]

function post(
  family: string,
  path: string,
  body: Uint8Array,
  type = 'application/json',
  query = '',
): BadRequest {
  const headers = { 'content-type': type }
  return { family, method: 'POST', path, query, headers, body: body.subarray(0, bodyLimit) }
}

function get(family: string, path: string, query = '', headers: Record<string, string> = {}): BadRequest {
  return { family, method: 'GET', path, query, headers }
}

const fragments = [
  '{',
  '}',
  '[',
  ']',
  '"',
  ',',
  ':',
  'null',
  'true',
  '1e999',
  '-0',
  '9223372036854775808',
  '0x1',
  '1.0',
  '\\u0000',
  '\\ud800',
  '__proto__',
  'constructor',
  'toString',
  '$patch',
  '$setElementOrder/x',
  'metadata',
  'name',
  ' ',
  '\n',
  '\t',
  '\r',
  '\u2028',
  '&a',
  '*a',
  '<<: *a',
  '!!binary',
  '!!str',
  '? ',
  '- ',
  '|',
  '>',
  '---',
  '...',
  '%YAML 1.1',
  '#',
  '@',
  '`',
] as const

/** Changes a few bytes of something that was good. */
function spoil(random: Random, bytes: Uint8Array): Uint8Array {
  let spoilt = bytes.slice()
  for (let times = 1 + below(random, 4); times > 0; times--) {
    const at = below(random, spoilt.length + 1)
    switch (below(random, 5)) {
      case 0:
        if (at < spoilt.length) spoilt[at] = below(random, 256)
        break
      case 1:
        spoilt = concat(
          spoilt.subarray(0, at),
          spoilt.subarray(Math.min(spoilt.length, at + below(random, 20))),
        )
        break
      case 2:
        spoilt = concat(spoilt.subarray(0, at), text(pick(random, fragments)), spoilt.subarray(at))
        break
      case 3: {
        const from = below(random, spoilt.length + 1)
        spoilt = concat(
          spoilt.subarray(0, at),
          spoilt.subarray(from, from + below(random, 200)),
          spoilt.subarray(at),
        )
        break
      }
      case 4:
        spoilt = spoilt.slice(0, at)
        break
    }
  }
  return spoilt
}

function concat(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.concat(parts))
}

/** JSON that is large in one way. */
function largeJson(random: Random): string {
  const n = size(random, bodyLimit)
  const many = (unit: string, end = '') => unit.repeat(Math.ceil(n / unit.length)) + end
  const list = (item: (index: number) => string, length: number) =>
    Array.from({ length: Math.ceil(n / length) }, (_, index) => item(index)).join(',')
  return pick(random, [
    () => many('['),
    () => many('[') + many(']'),
    () => many('{"a":'),
    () => `{"metadata":${many('[[')}`,
    () => `{"kind":"Pod","spec":${many('{"spec":', '1')}`,
    () => `{"data":{${list(index => `"k${index}":""`, 10)}}}`,
    () => `{"data":{${list(() => '"k":"v"', 8)}}}`,
    () => `{"spec":{"containers":[${list(() => '{}', 3)}]}}`,
    () => `{"spec":{"containers":[${list(index => `{"name":"c${index}","image":"i"}`, 28)}]}}`,
    () =>
      `{"spec":{"containers":[{"name":"c","image":"i","env":[${list(index => `{"name":"E${index}"}`, 15)}]}]}}`,
    () => `{"spec":{"tolerations":[${list(() => '{"key":"a"}', 12)}],"containers":[]}}`,
    () => `{"metadata":{"name":"x","labels":{${list(index => `"l${index}":"v"`, 11)}}}}`,
    () => `{"metadata":{"name":"x","finalizers":[${list(index => `"a/b${index}"`, 9)}]}}`,
    () => `{"metadata":{"name":"x","ownerReferences":[${list(() => '{"uid":"u"}', 12)}]}}`,
    () => `{"metadata":{"name":"x","managedFields":[${list(() => '{"manager":"m"}', 16)}]}}`,
    () => `{"metadata":{"name":"x","unknown":{${list(index => `"u${index}":1`, 9)}}}}`,
    () => `{"metadata":{"name":"${'a'.repeat(n)}"}}`,
    () => `{"metadata":{"generateName":"${'\\u0041'.repeat(n / 6)}"}}`,
    () => `{"metadata":{"name":"x"},"data":{"a":"${'\\n'.repeat(n / 2)}"}}`,
    () => `{"metadata":{"name":"x"},"data":{"a":${'9'.repeat(n)}}}`,
    () => `${' '.repeat(n)}{}`,
    () => many('1,'),
    () => `"${'x'.repeat(n)}`,
  ])()
}

/** YAML that is large or twisted in one way. */
function largeYaml(random: Random): string {
  const n = size(random, bodyLimit)
  const lines = (line: (index: number) => string, length: number) =>
    Array.from({ length: Math.ceil(n / length) }, (_, index) => line(index)).join('\n')
  const depth = Math.min(2_000, Math.ceil(Math.sqrt(n)))
  return pick(random, [
    () => '['.repeat(n),
    () => '{'.repeat(n),
    () => '- '.repeat(n / 2),
    () => '? '.repeat(n / 2),
    () => `a: ${'['.repeat(n / 2)}${']'.repeat(n / 2)}`,
    () => Array.from({ length: depth }, (_, index) => `${' '.repeat(index)}a:`).join('\n'),
    () => Array.from({ length: depth }, (_, index) => `${' '.repeat(index)}-`).join('\n'),
    () => lines(index => `k${index}: v`, 8),
    () => lines(() => 'k: v', 5),
    () => lines(index => `- &a${index} x`, 8),
    () => `a: &a [x]\nb: [${'*a,'.repeat(n / 3)}]`,
    () =>
      [
        'a: &a [x,x,x,x,x,x,x,x,x]',
        ...'bcdefghi'.split('').map((c, i) => `${c}: &${c} [${`*${'abcdefgh'[i]},`.repeat(9)}]`),
      ].join('\n'),
    () => `a: &a {b: c}\n${lines(index => `k${index}: {<<: *a}`, 14)}`,
    () => `a: |\n${lines(() => ' x', 3)}`,
    () => `a: >\n${lines(() => '  x y z', 8)}`,
    () => `a: "${'\\x41'.repeat(n / 4)}"`,
    () => `a: '${"''".repeat(n / 2)}'`,
    () => `a: ${'x '.repeat(n / 2)}`,
    () => `a: ${'!!str '.repeat(n / 6)}`,
    () => '---\n'.repeat(n / 4),
    () => '#'.repeat(n),
    () => `${'\t'.repeat(n)}a: b`,
    () => `a: !!binary ${'A'.repeat(n)}`,
    () => '&a '.repeat(n / 3),
    () => lines(index => `"k${index}": "\\u00e9"`, 16),
    () => `{${Array.from({ length: n / 8 }, (_, i) => `k${i}: v`).join(', ')}}`,
  ])()
}

function randomWord(random: Random, alphabet: string, longest: number): string {
  return Array.from({ length: size(random, longest) }, () => alphabet[below(random, alphabet.length)]).join(
    '',
  )
}

const selectorLetters = 'ab/.-_=!,()<> \t"%&in notin exists \u00e9'
const tokens = [
  '""',
  '{}',
  '{"v":"meta.k8s.io/v1","rv":-1,"start":"../x"}',
  '{"v":"meta.k8s.io/v1","rv":1,"start":"a"}',
  '{"v":"x"}',
]

const makers: readonly Maker[] = [
  random => {
    const [path, object] = pick(random, valid)
    return post('spoilt JSON', path, spoil(random, text(JSON.stringify(object))))
  },
  random => post('large JSON', pick(random, valid)[0], text(largeJson(random))),
  random => post('large YAML', pick(random, valid)[0], text(largeYaml(random)), 'application/yaml'),
  random => {
    const [path, object] = pick(random, valid)
    const yaml = JSON.stringify(object, undefined, 1).replaceAll(/[{}",]/g, '')
    return post('spoilt YAML', path, spoil(random, text(yaml)), 'application/yaml')
  },
  random => {
    const [path, object] = pick(random, valid.slice(0, 3))
    const bytes = builtinProtobuf.encode(object as Record<string, unknown>)
    return post('spoilt protobuf', path, spoil(random, bytes), 'application/vnd.kubernetes.protobuf')
  },
  random => {
    const noise = Uint8Array.from({ length: size(random, 4_096) }, () => below(random, 256))
    const body = concat(text('k8s\0'), noise)
    return post('protobuf noise', pick(random, valid)[0], body, 'application/vnd.kubernetes.protobuf')
  },
  random => ({
    family: 'spoilt patch',
    method: 'PATCH',
    path: `${namespace}/configmaps/present`,
    query: random.next() < 0.5 ? 'fieldManager=m&force=true' : '',
    headers: { 'content-type': pick(random, patchTypes) },
    body: random.next() < 0.5 ? spoil(random, patchBody(random)) : patchBody(random),
  }),
  random => {
    const n = size(random, bodyLimit)
    const pointer = pick(random, [
      '/data/a',
      `/data${'/a'.repeat(n / 100)}`,
      '/metadata/labels/~1~0',
      '',
      '/-',
      '/metadata/finalizers/-',
    ])
    const operation = JSON.stringify({
      op: pick(random, ['add', 'replace', 'remove', 'test', 'copy', 'move', 'x']),
      path: pointer,
      from: '/data',
      value: 'v',
    })
    const body =
      `[${Array.from({ length: Math.ceil(n / (operation.length + 1)) }, () => operation).join(',')}]`.slice(
        0,
        bodyLimit,
      )
    return {
      family: 'long JSON patch',
      method: 'PATCH',
      path: `${namespace}/configmaps/present`,
      query: '',
      headers: { 'content-type': patchTypes[0]! },
      body: text(body),
    }
  },
  random => ({
    family: 'large patch',
    method: 'PATCH',
    path: `${namespace}/configmaps/present`,
    query: 'fieldManager=m',
    headers: { 'content-type': pick(random, patchTypes.slice(1)) },
    body: text(random.next() < 0.5 ? largeJson(random) : largeYaml(random)).subarray(0, bodyLimit),
  }),
  random => {
    const name = pick(random, ['labelSelector', 'fieldSelector'])
    const watch = random.next() < 0.2 ? '&watch=1&timeoutSeconds=1' : ''
    const value =
      random.next() < 0.1
        ? `a in (${'b,'.repeat(size(random, 30_000))}c)`
        : randomWord(random, selectorLetters, 2_000)
    return get('selectors', `${namespace}/pods`, `${name}=${encodeURIComponent(value)}${watch}`)
  },
  random => {
    const token =
      random.next() < 0.5 ? pick(random, tokens) : randomWord(random, '{}":,v10rstam.k8io/-\\ ', 200)
    const encoded = random.next() < 0.8 ? Buffer.from(token).toString('base64url') : token
    return get(
      'continue tokens',
      `${namespace}/configmaps`,
      `limit=${below(random, 3)}&continue=${encodeURIComponent(encoded)}`,
    )
  },
  random =>
    get('paths', `/${Array.from({ length: 1 + below(random, 12) }, () => pathSegment(random)).join('/')}`),
  random => ({
    ...get('methods', `${namespace}/${pathSegment(random)}/${pathSegment(random)}`),
    method: pick(random, ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'BREW']),
    headers: json,
  }),
  random => {
    const names = [
      'limit',
      'resourceVersion',
      'resourceVersionMatch',
      'timeoutSeconds',
      'timeout',
      'watch',
      'sendInitialEvents',
      'allowWatchBookmarks',
      'pretty',
      'dryRun',
      'fieldManager',
      'fieldValidation',
      'propagationPolicy',
      'gracePeriodSeconds',
      'exact',
      '\u0000',
    ]
    const value = () =>
      pick(random, [
        '',
        '0',
        '1',
        '-1',
        'abc',
        '1e9',
        '9'.repeat(30),
        'true',
        'NotOlderThan',
        'Exact',
        'All',
        '%zz',
        '%00',
        'x'.repeat(size(random, 5_000)),
      ])
    const query = Array.from(
      { length: 1 + below(random, 4) },
      () => `${pick(random, names)}=${value()}`,
    ).join('&')
    // A watch that opens would stay open, so it gets a timeout.
    return {
      ...get(
        'parameters',
        `${namespace}/configmaps${pick(random, ['', '/present'])}`,
        `timeoutSeconds=1&${query}`,
      ),
      method: pick(random, ['GET', 'GET', 'POST', 'PUT', 'DELETE']),
      headers: json,
    }
  },
  random => {
    const header = pick(random, [
      'accept',
      'content-type',
      'user-agent',
      'authorization',
      'impersonate-user',
      'impersonate-extra-%',
      'accept-encoding',
      'if-none-match',
      'audit-id',
      'origin',
    ])
    return get(
      'headers',
      pick(random, [`${namespace}/pods`, '/openapi/v2', '/apis', '/healthz', '/metrics']),
      '',
      {
        [header]: randomWord(random, 'abc/*;,=.q0-1 "\\json\u00e9', 8_000),
      },
    )
  },
]

function pathSegment(random: Random): string {
  return pick(random, [
    () =>
      pick(random, [
        'api',
        'apis',
        'v1',
        'apps',
        'namespaces',
        'default',
        'pods',
        'configmaps',
        'status',
        'scale',
        'watch',
        'log',
        'exec',
        'proxy',
        'openapi',
        'v3',
        'healthz',
        'version',
      ]),
    () =>
      pick(random, [
        '',
        '.',
        '..',
        '%2e%2e',
        '%2F',
        '%00',
        '%ff',
        '%',
        '%zz',
        '~',
        '*',
        '?',
        '#',
        ' ',
        '\u00e9',
        '__proto__',
        'constructor',
      ]),
    () => randomWord(random, 'abcXYZ019-_.%/:@\u00e9', 300),
    () => 'x'.repeat(size(random, 20_000)),
  ])()
}

function patchBody(random: Random): Uint8Array {
  return text(
    pick(random, [
      '[{"op":"replace","path":"/data/a","value":"c"}]',
      '[{"op":"test","path":"/metadata/uid","value":null}]',
      '{"data":{"a":null},"metadata":{"labels":{"x":"y"}}}',
      '{"metadata":{"finalizers":["a/b"],"$setElementOrder/finalizers":["a/b","c/d"]}}',
      '{"$patch":"replace","data":{}}',
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: present}\ndata: {a: c}\n',
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"present"},"data":{"a":"d"}}',
    ]),
  )
}

/** The next request of an endless sequence that the seed decides. */
export function makeBadRequest(random: Random): BadRequest {
  return pick(random, makers)(random)
}
