/**
 * Records what Kubernetes' own CEL environment answers, for packages/cel. Needs Go:
 *
 *   cd tools/oracle/cel && go build -o /tmp/celoracle . && node record.ts /tmp/celoracle
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'

const schema = {
  type: 'object',
  required: ['name', 'replicas'],
  properties: {
    name: { type: 'string' },
    kindName: { type: 'string', maxLength: 20 },
    pattern: { type: 'string', maxLength: 10 },
    enumName: { type: 'string', enum: ['One', 'Three'] },
    short: { type: 'string', maxLength: 5 },
    missing: { type: 'string', maxLength: 10 },
    missing2: { type: 'string' },
    endpoint: { type: 'string', maxLength: 100 },
    address: { type: 'string', maxLength: 45 },
    memory: { type: 'string', maxLength: 30 },
    replicas: { type: 'integer' },
    minReplicas: { type: 'integer' },
    maxReplicas: { type: 'integer' },
    big: { type: 'integer', format: 'int64' },
    ratio: { type: 'number' },
    enabled: { type: 'boolean' },
    nullable: { type: 'string', nullable: true },
    namespace: { type: 'string', maxLength: 63 },
    'x-y': { type: 'string' },
    'a.b': { type: 'integer' },
    u__v: { type: 'integer' },
    tags: { type: 'array', maxItems: 10, items: { type: 'string', maxLength: 15 } },
    setTags: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
    empty: { type: 'array', items: { type: 'integer' } },
    labels: { type: 'object', maxProperties: 8, additionalProperties: { type: 'string', maxLength: 30 } },
    ports: {
      type: 'array',
      maxItems: 20,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: {
        type: 'object',
        required: ['name', 'port'],
        properties: { name: { type: 'string', maxLength: 15 }, port: { type: 'integer' } },
      },
    },
    nested: {
      type: 'object',
      properties: {
        inner: { type: 'object', properties: { value: { type: 'string', maxLength: 8 } } },
        absent: { type: 'object', properties: { value: { type: 'string' } } },
      },
    },
    matrix: { type: 'array', maxItems: 4, items: { type: 'array', maxItems: 4, items: { type: 'integer' } } },
    deep: {
      type: 'object',
      maxProperties: 3,
      additionalProperties: {
        type: 'object',
        properties: { list: { type: 'array', maxItems: 5, items: { type: 'string', maxLength: 10 } } },
      },
    },
    ts: { type: 'string', format: 'date-time' },
    day: { type: 'string', format: 'date' },
    dur: { type: 'string', format: 'duration' },
    data: { type: 'string', format: 'byte' },
    port: { 'x-kubernetes-int-or-string': true },
    percent: { 'x-kubernetes-int-or-string': true, maxLength: 10 },
  },
}

const self = {
  name: 'web',
  kindName: 'app',
  pattern: '^w',
  enumName: 'One',
  short: 'ab',
  endpoint: 'https://example.com/x',
  address: '192.168.1.5',
  memory: '1Gi',
  replicas: 4,
  minReplicas: 1,
  maxReplicas: 10,
  big: 5000000000000000000n,
  ratio: 0.5,
  enabled: true,
  nullable: null,
  namespace: 'default',
  'x-y': 'dash',
  'a.b': 7,
  u__v: 8,
  tags: ['a', 'b', 'c'],
  setTags: ['x', 'y'],
  empty: [],
  labels: { app: 'one', app2: 'two' },
  ports: [
    { name: 'http', port: 80 },
    { name: 'admin', port: 8080 },
  ],
  nested: { inner: { value: 'inner' } },
  matrix: [
    [1, 2],
    [3, 4],
  ],
  deep: { k: { list: ['one', 'two'] } },
  ts: '2024-05-06T07:08:09Z',
  day: '2024-02-29',
  dur: '10m',
  data: 'aGVsbG8=',
  port: 80,
  percent: '10%',
}

const oldSelf = {
  ...self,
  replicas: 3,
  setTags: ['y', 'x'],
  tags: ['a'],
  ports: self.ports.toReversed(),
  ts: '2024-05-06T06:08:09Z',
}

function json(value: unknown): string {
  return JSON.stringify(value, (_, v) => (typeof v === 'bigint' ? `@${v}@` : v)).replace(/"@(\d+)@"/g, '$1')
}

const here = new URL('.', import.meta.url)
const expressions = readFileSync(new URL('expressions.txt', here), 'utf8')
  .split('\n')
  .filter(line => line !== '' && !line.startsWith('#'))
const [binary = ''] = process.argv.slice(2)
const question = (expr: string): string =>
  `{"expr":${JSON.stringify(expr)},"schema":${json(schema)},"self":${json(self)},"oldSelf":${json(oldSelf)}}`
const input = `[${expressions.map(question).join(',')}]`
const answers = JSON.parse(execFileSync(binary, { input, maxBuffer: 1 << 28 }).toString('utf8')) as object[]
const recorded = `{"schema":${json(schema)},"self":${json(self)},"oldSelf":${json(oldSelf)},"cases":${JSON.stringify(
  expressions.map((expr, i) => ({ expr, ...answers[i] })),
)}}`
writeFileSync(
  new URL('../../../packages/cel/fixtures/kubernetes.json.gz', here),
  gzipSync(recorded, { level: 9 }),
)
process.stdout.write(`${answers.length} answers\n`)
