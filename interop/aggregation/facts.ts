/** What a server does with extension API servers, in a form that two servers can be compared in. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request as sendRequest } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseKubeconfig } from '@coxswain/client/node'
import { eventually } from '../support/eventually.ts'
import { createKubectl } from '../support/kubectl.ts'
import { behaviours, type FakeExtension, groupOf, startFakeExtension } from './fake-extension.ts'

/** By behaviour or case. */
export type Facts = Record<string, unknown>

export interface Answer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly text: string
}

/** Plain HTTP/1.1 requests of an administrator. */
export interface Caller {
  send(method: string, path: string, options?: CallOptions): Promise<Answer>
  /** As `send`, without waiting for the end of the response. */
  open(method: string, path: string, options?: CallOptions): Promise<IncomingMessage>
  /** Resolves with the connection after a 101, and with the response otherwise. */
  upgrade(path: string, protocol: string): Promise<{ readonly answer: Answer; readonly socket?: Duplex }>
}

export interface CallOptions {
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  readonly body?: string | Buffer
}

export function createCaller(kubeconfig: string): Caller {
  const config = parseKubeconfig(readFileSync(kubeconfig, 'utf8'), kubeconfig)
  const { cluster } = config.clusters![0]!
  const { user } = config.users![0]!
  const bytes = (text: string | undefined) => (text === undefined ? undefined : Buffer.from(text, 'base64'))
  const url = new URL(cluster!.server!)
  const shared = {
    host: url.hostname,
    port: url.port,
    ca: bytes(cluster!['certificate-authority-data']),
    cert: bytes(user?.['client-certificate-data']),
    key: bytes(user?.['client-key-data']),
    agent: false,
  } as const
  const authorization = user?.token === undefined ? {} : { authorization: `Bearer ${user.token}` }
  const open: Caller['open'] = (method, path, { headers = {}, body } = {}) =>
    new Promise((resolve, reject) => {
      const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
      const call = sendRequest(
        {
          ...shared,
          method,
          path,
          headers: { ...authorization, ...length, ...(headers as Record<string, string>) },
        },
        resolve,
      )
      call.on('error', reject)
      call.end(body)
    })
  return {
    open,
    send: async (method, path, options) => {
      const response = await open(method, path, options).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ECONNRESET') return undefined
        throw error
      })
      return response ? await collect(response) : cutOff
    },
    upgrade: (path, protocol) =>
      new Promise((resolve, reject) => {
        const headers = { ...authorization, connection: 'Upgrade', upgrade: protocol }
        const call = sendRequest({ ...shared, method: 'GET', path, headers })
        call.on('response', response => collect(response).then(answer => resolve({ answer }), reject))
        call.on('upgrade', (response, socket) => {
          const { statusCode: status = 0, headers: got } = response
          resolve({ answer: { status, headers: got, text: '' }, socket })
        })
        call.on('error', reject)
        call.end()
      }),
  }
}

/** The connection was closed before the end of the response. When depends on what was sent by then. */
const cutOff: Answer = { status: 0, headers: {}, text: 'cut off' }

async function collect(response: IncomingMessage): Promise<Answer> {
  let text = ''
  try {
    for await (const chunk of response) text += String(chunk)
  } catch {
    return cutOff
  }
  return { status: response.statusCode ?? 0, headers: response.headers, text }
}

const namespace = 'aggregation'
const apiServices = '/apis/apiregistration.k8s.io/v1/apiservices'
const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

export async function create(caller: Caller, path: string, object: object): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const { status, text } = await caller.send('POST', path, { headers, body: JSON.stringify(object) })
  if (status !== 201 && status !== 409) throw new Error(`${path}: ${status} ${text}`)
}

export async function registerExtension(
  caller: Caller,
  { behaviour, port, ca }: FakeExtension,
): Promise<void> {
  await create(caller, `/api/v1/namespaces/${namespace}/services`, {
    metadata: { name: behaviour },
    spec: { type: 'ExternalName', externalName: 'localhost' },
  })
  await registerApiService(caller, behaviour, {
    service: { namespace, name: behaviour, port },
    caBundle: Buffer.from(ca).toString('base64'),
  })
}

async function registerApiService(caller: Caller, name: string, spec: object): Promise<void> {
  const group = groupOf(name)
  await create(caller, apiServices, {
    metadata: { name: `v1.${group}` },
    spec: { group, version: 'v1', groupPriorityMinimum: 1500, versionPriority: 15, ...spec },
  })
}

/** Removes what `collectFacts` made. */
export async function cleanUp(caller: Caller): Promise<void> {
  const { text } = await caller.send('GET', apiServices)
  for (const { metadata } of JSON.parse(text).items)
    if (metadata.name.endsWith('.agg.example')) await caller.send('DELETE', `${apiServices}/${metadata.name}`)
}

interface Condition {
  readonly status: string
  readonly reason: string
  readonly message: string
}

async function conditionOf(caller: Caller, name: string): Promise<Condition | undefined> {
  const { text } = await caller.send('GET', `${apiServices}/v1.${groupOf(name)}`)
  return JSON.parse(text).status?.conditions?.find(({ type }: { type: string }) => type === 'Available')
}

/** Ports and addresses of this machine differ from run to run; ours does not say when a certificate expired. */
export function mask(text: string): string {
  return text
    .replaceAll(/(127\.0\.0\.1|\[::1\]|localhost):\d+/g, 'HOST')
    .replaceAll(/: current time \S+ is after \S+/g, '')
    .replaceAll(/read tcp HOST->HOST/g, 'read tcp HOST')
}

export async function collectFacts(kubeconfig: string): Promise<Facts> {
  const caller = createCaller(kubeconfig)
  await create(caller, '/api/v1/namespaces', { metadata: { name: namespace } })
  await using stack = new AsyncDisposableStack()
  const servers = new Map<string, FakeExtension>()
  for (const behaviour of behaviours) servers.set(behaviour, stack.use(await startFakeExtension(behaviour)))
  try {
    for (const server of servers.values()) await registerExtension(caller, server)
    await registerServiceCases(caller)
    const facts: Facts = {}
    for (const name of [...behaviours, ...serviceCases]) facts[name] = await factsOf(caller, name)
    facts.order = await orderOf(caller)
    facts.kubectl = await kubectlFacts(kubeconfig)
    facts.requests = await requestFacts(caller)
    facts.gone = await removalFacts(caller)
    return JSON.parse(JSON.stringify(facts))
  } finally {
    await cleanUp(caller)
  }
}

/** Services that cannot be used, each for another reason. */
const serviceCases = ['no-service', 'no-port', 'no-endpoints', 'empty-endpoints', 'unnamed-port']

async function registerServiceCases(caller: Caller): Promise<void> {
  const services = `/api/v1/namespaces/${namespace}/services`
  const ports = (name: string, port = 443) => ({ spec: { ports: [{ name, port }] } })
  await create(caller, services, { metadata: { name: 'no-port' }, ...ports('https', 8443) })
  for (const name of ['no-endpoints', 'empty-endpoints', 'unnamed-port'])
    await create(caller, services, { metadata: { name }, ...ports('https') })
  const slice = (name: string, port: string, endpoints: readonly object[]) =>
    create(caller, `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`, {
      metadata: { name, labels: { 'kubernetes.io/service-name': name } },
      addressType: 'IPv4',
      ports: [{ name: port, port: 8443 }],
      endpoints,
    })
  await slice('empty-endpoints', 'https', [{ addresses: ['192.0.2.7'], conditions: { ready: false } }])
  await slice('unnamed-port', 'other', [{ addresses: ['192.0.2.7'] }])
  for (const name of serviceCases)
    await registerApiService(caller, name, { service: { namespace, name }, insecureSkipTLSVerify: true })
}

interface GroupEntry {
  readonly metadata: { readonly name: string }
  readonly versions: readonly { readonly freshness: string; readonly resources?: readonly unknown[] }[]
}

async function entryOf(caller: Caller, name: string): Promise<GroupEntry | undefined> {
  const { text } = await caller.send('GET', '/apis', { headers: { accept: aggregated } })
  return (JSON.parse(text).items as GroupEntry[]).find(({ metadata }) => metadata.name === groupOf(name))
}

/** Behaviours whose server passes the availability check. */
const available = new Set(['ok', 'legacy', 'hangs-late', 'garbage', 'half', 'other-group', 'wrong-types'])
/** Those of them whose discovery is complete in the end. */
const current = new Set(['ok', 'legacy', 'other-group'])

async function factsOf(caller: Caller, name: string): Promise<unknown> {
  const condition = await eventually(`a condition of ${name}`, async () => {
    const found = await conditionOf(caller, name)
    return found && (found.status === 'True') === available.has(name) ? found : undefined
  })
  const discovery = await eventually(`discovery of ${name}`, async () => {
    const found = await entryOf(caller, name)
    const isCurrent = found?.versions[0]?.freshness === 'Current'
    return found && isCurrent === current.has(name) ? found : undefined
  })
  const group = groupOf(name)
  const { text: legacy } = await caller.send('GET', '/apis')
  const isListed = JSON.parse(legacy).groups.some((one: { name: string }) => one.name === group)
  const paths = [`/apis/${group}`, `/apis/${group}/v1`, `/apis/${group}/v1/namespaces/x/widgets/w`]
  const answers: unknown[] = []
  for (const path of name === 'hangs-late' ? paths.slice(0, 2) : paths)
    answers.push(describe(await caller.send('GET', path)))
  const { status, reason, message } = condition
  return { condition: { status, reason, message: mask(message) }, discovery, isListed, answers }
}

function describe({ status, headers, text }: Answer): unknown {
  return { status, type: headers['content-type'], text: mask(text) }
}

/** The order of groups that are not built in, with those of other priorities. */
async function orderOf(caller: Caller): Promise<unknown> {
  const { text: legacy } = await caller.send('GET', '/apis')
  const { text } = await caller.send('GET', '/apis', { headers: { accept: aggregated } })
  return {
    legacy: JSON.parse(legacy)
      .groups.map((one: { name: string }) => one.name)
      .filter(isUpstream),
    aggregated: (JSON.parse(text).items as GroupEntry[])
      .map(({ metadata }) => metadata.name)
      .filter(isUpstream),
  }
}

/** Ours has it built in. */
const isUpstream = (group: string) => group !== 'metrics.k8s.io'

const widgets = `/apis/${groupOf('ok')}/v1/namespaces/x/widgets`

async function requestFacts(caller: Caller): Promise<Facts> {
  const json = { 'content-type': 'application/json' }
  const forged = {
    'x-remote-user': 'mallory',
    'x-remote-group': 'system:masters',
    'x-remote-extra-scopes': 'all',
    'x-remote-uid': '1',
    'impersonate-user': 'jane',
    'impersonate-group': ['system:masters', 'größe'.replace('ö', 'oe').replace('ß', 'ss')],
    'impersonate-uid': '42',
    'impersonate-extra-acme.com%2fscopes': ['view', 'edit'],
    'x-own': 'passed on',
    connection: 'x-hop',
    'x-hop': 'y',
  }
  const facts: Facts = {}
  const seen = JSON.parse((await caller.send('GET', `${widgets}/headers`, { headers: forged })).text).headers
  const names = Object.keys(seen).filter(
    name => !/^(accept-encoding|host|traceparent|user-agent|x-forwarded-for|accept|connection)$/.test(name),
  )
  facts.headers = Object.fromEntries(
    names.sort().map(name => [name, name === 'audit-id' ? 'ID' : mask(String(seen[name]))]),
  )
  facts.post = describe(
    await caller.send('POST', `${widgets}?dryRun=All`, { headers: json, body: '{"a":1}' }),
  )
  const body = Buffer.alloc(8 * 1024 ** 2, 97)
  facts.upload = describe(await caller.send('PUT', `${widgets}/big`, { headers: json, body }))
  for (const name of ['redirect', 'seeother', 'drop', 'teapot', 'cut'])
    facts[name] = describe(await caller.send('GET', `${widgets}/${name}`))
  facts.dropPost = describe(await caller.send('POST', `${widgets}/drop`, { headers: json, body: '{}' }))
  facts.query = describe(await caller.send('GET', `${widgets}/w%20x?labelSelector=a%3Db,c&limit=5`))
  for (const method of ['PATCH', 'DELETE', 'OPTIONS'])
    facts[method] = describe(await caller.send(method, `${widgets}/w`, { headers: json, body: '{}' }))
  const { statusCode, headers } = await caller.open('HEAD', `${widgets}/w`)
  facts.HEAD = [statusCode, headers['content-type']]
  const response = await caller.send('GET', `${widgets}/w`)
  facts.answerHeaders = [
    response.headers['x-own'],
    response.headers.warning,
    response.headers['cache-control'],
  ]
  facts.watch = await watchFact(caller)
  for (const name of ['forbidden', 'moved', 'plain']) {
    const { answer } = await caller.upgrade(`${widgets}/${name}`, 'websocket')
    facts[`upgrade ${name}`] = describe(answer)
  }
  for (const protocol of ['websocket', 'SPDY/3.1'])
    facts[`upgrade ${protocol}`] = await echoFact(caller, protocol)
  return facts
}

/** The first event must arrive although the response does not end. */
async function watchFact(caller: Caller): Promise<unknown> {
  const response = await caller.open('GET', `${widgets}?watch=true`)
  for await (const chunk of response) {
    response.destroy()
    return [response.statusCode, String(chunk)]
  }
  return 'ended'
}

async function echoFact(caller: Caller, protocol: string): Promise<unknown> {
  const { answer, socket } = await caller.upgrade(`${widgets}/echo`, protocol)
  if (!socket) return describe(answer)
  socket.write('hello')
  const [chunk] = await socket.take(1).toArray()
  socket.destroy()
  return [answer.status, answer.headers.upgrade, String(chunk)]
}

/** What kubectl makes of it all, without a cache of its own. */
async function kubectlFacts(kubeconfig: string): Promise<Facts> {
  const home = mkdtempSync(join(tmpdir(), 'coxswain-kubectl-'))
  const kubectl = createKubectl('1.36', kubeconfig, { HOME: home })
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await kubectl(...args)
    const isOurs = (line: string) => line.includes('agg.example')
    const lines = (text: string) => mask(text).split('\n').filter(isOurs)
    return { code, stdout: lines(stdout), stderr: lines(stderr) }
  }
  try {
    return {
      'api-resources': await run('api-resources', '-o', 'name'),
      'api-versions': await run('api-versions'),
      'get widgets': await run('get', `widgets.v1.${groupOf('ok')}`, '-o', 'name'),
      'get down': await run('get', `widgets.v1.${groupOf('down')}`),
      'get --raw': await run('get', '--raw', `/apis/${groupOf('down')}/v1`),
    }
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

/** What is left of a group when its APIService is deleted. */
async function removalFacts(caller: Caller): Promise<unknown> {
  await caller.send('DELETE', `${apiServices}/v1.${groupOf('ok')}`)
  await eventually('the group is removed', async () => !(await entryOf(caller, 'ok')))
  await sleep(1_000)
  const group = groupOf('ok')
  const answers: unknown[] = []
  for (const path of [`/apis/${group}`, `/apis/${group}/v1`, `${widgets}/w`])
    answers.push(describe(await caller.send('GET', path)))
  return answers
}
