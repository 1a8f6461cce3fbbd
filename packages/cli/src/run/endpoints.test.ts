import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get } from 'node:http'
import { createServer } from 'node:net'
import { dirname } from 'node:path'
import { describe, it } from 'node:test'
import { connect } from 'node:tls'
import { Lease } from '@coxswain/api/coordination/v1'
import { ConfigMap, ServiceAccount } from '@coxswain/api/core/v1'
import { ClusterRole, ClusterRoleBinding } from '@coxswain/api/rbac/v1'
import { createRealEnv } from '@coxswain/kit'
import { createCertificateMaker } from '@coxswain/runtime/node'
import { readBody } from '@coxswain/wire'
import { createHttpTransport } from '@coxswain/wire/node'
// @ts-expect-error it has no types
import parseText from 'parse-prometheus-text-format'
import { type Launched, launch, type Running, scratch } from '../test-support/commands.ts'

const runtime = import.meta.resolve('@coxswain/runtime')
const core = import.meta.resolve('@coxswain/api/core/v1')
const { clock } = createRealEnv()

const first = `
import { ConfigMap } from '${core}'
import { defineOperator } from '${runtime}'
export default defineOperator('first', operator => {
  operator.metricsHandler('/own', async () => ({ status: 200, headers: {}, body: Buffer.from('own') }))
  operator.readyCheck('mood', () => {})
  operator.controller('maps').for(ConfigMap).reconcile(async ({ key }) => {
    if (key.name === 'bad') throw new Error('this one is bad')
  })
})
`
const second = first
  .replace("'first'", "'second'")
  .replace("'maps'", "'others'")
  .replace(/.*metricsHandler.*/, '')

interface Answer {
  readonly status: number
  readonly text: string
}

interface MetricFamily {
  readonly name: string
  readonly metrics: readonly { readonly labels?: Readonly<Record<string, string>> }[]
}

const parsePrometheus = parseText as (text: string) => MetricFamily[]

/** One request, whatever the certificate is. */
async function ask(url: string, token?: string, put?: string): Promise<Answer> {
  const { origin, pathname: path, search } = new URL(url)
  const tls = origin.startsWith('https') ? { tls: { insecure: true } } : {}
  await using transport = createHttpTransport({ server: origin, ...tls })
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const answer = await transport.send({
    method: put === undefined ? 'GET' : 'PUT',
    path,
    query: search.slice(1),
    headers,
    ...(put !== undefined && { body: new TextEncoder().encode(put) }),
    signal: new AbortController().signal,
  })
  return { status: answer.status, text: new TextDecoder().decode(await readBody(answer.body)) }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise(resolve => server.close(resolve))
  return port
}

/** The URL of a server that got a free port. */
async function urlOf(running: Running, flag: string): Promise<string> {
  const [, url = ''] = await running.prints(new RegExp(`"what":"${flag}","url":"([^"]+)"`))
  return url
}

async function tokenOf({ client }: Launched, name: string): Promise<string> {
  const key = { namespace: 'default', name }
  await client.create(ServiceAccount, { metadata: key })
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }
  const tokens = client.subresource(ServiceAccount, key, 'token')
  const { status } = await tokens.create<{ status: { token: string } }>(request)
  return status.token
}

/** Lets a ServiceAccount get a path. */
async function allowToGet({ client }: Launched, name: string, path: string): Promise<void> {
  const metadata = { name }
  await client.create(ClusterRole, { metadata, rules: [{ nonResourceURLs: [path], verbs: ['get'] }] })
  await client.create(ClusterRoleBinding, {
    metadata,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    subjects: [{ kind: 'ServiceAccount', namespace: 'default', name }],
  })
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 1_200; tries++) {
    if (await holds()) return
    await clock.sleep(50)
  }
  assert.fail(`never: ${what}`)
}

describe('the endpoints of coxswain run', () => {
  it('serve metrics to authorized users, health without a token, and debug information on loopback', async () => {
    await using cluster = await launch('--storage', 'memory', '--controllers', 'none')
    const { client } = cluster
    await using run = cluster.run(
      ...['--metrics-bind-address', '127.0.0.1:0', '--health-probe-bind-address', '127.0.0.1:0'],
      ...['--pprof-bind-address', '127.0.0.1:0', '--log-format', 'json'],
      cluster.file('first.mjs', first),
      cluster.file('second.mjs', second),
    )
    const metrics = await urlOf(run, 'metrics-bind-address')
    assert.match(metrics, /^https:/)
    const visitor = await tokenOf(cluster, 'visitor')
    const prometheus = await tokenOf(cluster, 'prometheus')
    await allowToGet(cluster, 'prometheus', '/metrics')
    assert.deepEqual(await ask(`${metrics}/metrics`), { status: 401, text: 'Unauthorized\n' })
    assert.equal((await ask(`${metrics}/metrics`, 'garbage')).status, 500)
    assert.deepEqual(await ask(`${metrics}/metrics`, visitor), {
      status: 403,
      text: 'Authorization denied for user system:serviceaccount:default:visitor\n',
    })
    assert.equal(
      (await ask(`${metrics}/own`, prometheus)).status,
      403,
      'own paths need their own permissions',
    )
    const scraped = await ask(`${metrics}/metrics`, prometheus)
    assert.equal(scraped.status, 200)
    const families = parsePrometheus(scraped.text)
    const reconciles = families.find(({ name }) => name === 'controller_runtime_reconcile_total')
    const controllers = new Set(reconciles?.metrics.map(({ labels }) => labels?.controller))
    assert.deepEqual([...controllers].toSorted(), ['maps', 'others'])
    for (const name of ['rest_client_requests_total', 'process_cpu_seconds_total', 'workqueue_depth'])
      assert.ok(
        families.some(family => family.name === name),
        name,
      )

    const health = await urlOf(run, 'health-probe-bind-address')
    assert.deepEqual(await ask(`${health}/healthz`), { status: 200, text: 'ok' })
    await until('ready', async () => (await ask(`${health}/readyz`)).status === 200)
    assert.match(
      (await ask(`${health}/readyz?verbose`)).text,
      /\[\+\]first\.mood ok\n\[\+\]second\.mood ok\n/,
    )

    const debug = await urlOf(run, 'pprof-bind-address')
    await client.create(ConfigMap, { metadata: { namespace: 'default', name: 'bad' } })
    await until('the bad one failed', async () => {
      const { text } = await ask(`${debug}/debug/reconciles?controller=maps&key=default/bad`)
      const records = JSON.parse(text) as { error?: string; controller: string }[]
      assert.ok(records.every(({ controller }) => controller === 'maps'))
      return records.some(({ error }) => error?.includes('this one is bad'))
    })
    const profile = ask(`${debug}/debug/pprof/profile?seconds=1`)
    await until('a second one is refused', async () =>
      /being taken/.test((await ask(`${debug}/debug/pprof/profile?seconds=1`)).text),
    )
    assert.ok(Array.isArray(JSON.parse((await profile).text).nodes))
    assert.equal((await ask(`${debug}/debug/pprof/profile?seconds=0`)).status, 400)
    const delay = JSON.parse((await ask(`${debug}/debug/pprof/eventloop`)).text)
    assert.equal(typeof delay.p99, 'number')
    for (const path of ['/', '/debug', '/debug/', '/debug/pprof/'])
      assert.match((await ask(debug + path)).text, /^\/debug\/pprof\/heap /m)
    assert.ok(JSON.parse((await ask(`${debug}/debug/pprof/heap`)).text).snapshot)

    assert.equal((await ask(`${debug}/debug/log-level`)).text, '{"level":"info"}\n')
    assert.equal((await ask(`${debug}/debug/log-level`, undefined, 'loud')).status, 400)
    assert.equal((await ask(`${debug}/debug/log-level`, undefined, '{"level":"debug"}')).status, 200)
    await client.create(ConfigMap, { metadata: { namespace: 'default', name: 'good' } })
    await run.prints(/"level":"debug".*"msg":"reconciled"/)
    run.kill('SIGUSR2')
    await run.prints(/"to":"info"/)
    assert.equal((await ask(`${debug}/debug/log-level`)).text, '{"level":"info"}\n')
    assert.equal(await run.stop(), 0)
  })

  it('show what the process does to authorized users on other addresses, and on loopback under its own names only', async () => {
    await using cluster = await launch('--storage', 'memory', '--controllers', 'none')
    const file = cluster.file('first.mjs', first)
    {
      await using run = cluster.run('--pprof-bind-address', ':0', '--log-format', 'json', file)
      const everywhere = await urlOf(run, 'pprof-bind-address')
      const debug = `https://127.0.0.1:${new URL(everywhere).port}/debug/reconciles`
      assert.match(everywhere, /^https:/)
      const visitor = await tokenOf(cluster, 'visitor')
      const developer = await tokenOf(cluster, 'developer')
      await allowToGet(cluster, 'developer', '/debug/*')
      assert.deepEqual(await ask(debug), { status: 401, text: 'Unauthorized\n' })
      assert.equal((await ask(debug, visitor)).status, 403)
      assert.equal((await ask(debug, developer)).status, 200)
      const level = debug.replace('reconciles', 'log-level')
      assert.equal((await ask(level, developer, 'debug')).status, 403, 'to change it is another verb')
      assert.equal(await run.stop(), 0)
    }
    await using run = cluster.run('--pprof-bind-address', '127.0.0.1:0', '--log-format', 'json', file)
    const { port } = new URL(await urlOf(run, 'pprof-bind-address'))
    const statusFor = (host: string, more: Readonly<Record<string, string>> = {}) =>
      new Promise<number | undefined>((resolve, reject) => {
        const headers = { host, ...more }
        const options = { host: '127.0.0.1', port, path: '/debug/log-level', headers, agent: false }
        get(options, answer => answer.resume() && resolve(answer.statusCode)).on('error', reject)
      })
    for (const host of ['localhost', 'LocalHost:80', `127.0.0.1:${port}`, '127.1.2.3', '[::1]:6060'])
      assert.equal(await statusFor(host), 200, host)
    for (const host of [
      'evil.example',
      '127.0.0.1.evil.example',
      '127.evil',
      'localhost.evil.example',
      '10.0.0.1:80',
    ])
      assert.equal(await statusFor(host), 403, host)
    for (const [site, status] of Object.entries({
      none: 200,
      'same-origin': 200,
      'cross-site': 403,
      'same-site': 403,
    }))
      assert.equal(await statusFor('localhost', { 'sec-fetch-site': site }), status, site)
    assert.equal(await run.stop(), 0)
  })

  it('serve metrics with the certificate of a directory, and report one that is missing', async () => {
    await using cluster = await launch('--storage', 'memory', '--controllers', 'none')
    const env = createRealEnv()
    const maker = createCertificateMaker(env.random)
    const times = { notBefore: env.clock.now() - 60_000, notAfter: env.clock.now() + 600_000 }
    const ca = maker.createCa('own', times)
    const pair = maker.createServer(['localhost'], times, ca)
    const folder = dirname(cluster.file('own.crt', pair.certificate))
    cluster.file('own.key', pair.key)
    const operator = cluster.file('first.mjs', first)
    const flags = ['--metrics-bind-address=127.0.0.1:0', `--metrics-cert-path=${folder}`, '--log-format=json']
    {
      await using run = cluster.run(
        ...flags,
        '--metrics-cert-name=own.crt',
        '--metrics-cert-key=own.key',
        operator,
      )
      const { port } = new URL(await urlOf(run, 'metrics-bind-address'))
      const socket = connect({
        host: '127.0.0.1',
        port: Number(port),
        servername: 'localhost',
        ca: ca.certificate,
      })
      await once(socket, 'secureConnect')
      assert.ok(socket.authorized)
      socket.destroy()
      assert.equal(await run.stop(), 0)
    }
    await using missing = cluster.run(...flags, operator)
    assert.equal(await missing.exited, 1)
    assert.match(missing.output().stderr, /^coxswain: --metrics-cert-path: \S+tls\.crt: does not exist\n$/m)
  })

  it('are a failure in one line where the port is in use', async () => {
    await using cluster = await launch('--storage', 'memory', '--controllers', 'none')
    const taken = createServer()
    await new Promise<void>(resolve => taken.listen(0, '127.0.0.1', resolve))
    const { port } = taken.address() as { port: number }
    await using run = cluster.run(
      '--health-probe-bind-address',
      `127.0.0.1:${port}`,
      cluster.file('first.mjs', first),
    )
    assert.equal(await run.exited, 1)
    assert.equal(run.output().stderr, `coxswain: --health-probe-bind-address 127.0.0.1:${port}: is in use\n`)
    taken.close()
  })

  it('are served with coxswain up --operator', async () => {
    const port = await freePort()
    await using cluster = await launch(
      ...['--storage', 'memory', '--controllers', 'none', '--metrics-bind-address', `127.0.0.1:${port}`],
      ...['--metrics-secure=false', '--concurrency', 'at=3'],
      ...['--operator', new URL('../../../../examples/01-at/operator.ts', import.meta.url).pathname],
    )
    const { status, text } = await ask(`http://127.0.0.1:${port}/metrics`)
    assert.equal(status, 200)
    assert.match(text, /controller_runtime_max_concurrent_reconciles\{controller="at"\} 3/)
    assert.equal(await cluster.up.stop(), 0)
  })

  it('follow the configuration file with coxswain up --operator, whose operators may need a lease', async () => {
    using folder = scratch()
    const port = await freePort()
    const config = { operators: [], install: true, metricsSecure: false, leaderElectionId: 'first-lease' }
    const settings = { ...config, metricsBindAddress: `127.0.0.1:${port}`, kubeApiQps: 50 }
    await using cluster = await launch(
      ...['--storage', 'memory', '--leader-election-namespace', 'kube-public', '--nodes', '0'],
      ...['--config', folder.file('coxswain.config.mjs', `export default ${JSON.stringify(settings)}\n`)],
      ...['--operator', folder.file('first.mjs', first)],
    )
    const key = { namespace: 'kube-public', name: 'first-lease' }
    await until('the operator leads', async () =>
      Boolean((await cluster.client.get(Lease, key))?.spec?.holderIdentity?.endsWith('_coxswain')),
    )
    const { text } = await ask(`http://127.0.0.1:${port}/metrics`)
    assert.match(text, /^rest_client_requests_total\{code="200",method="GET"\} [1-9]/m)
    assert.match(text, /^process_cpu_seconds_total /m)
    assert.equal(await cluster.up.stop(), 0)
  })

  it('are one set for all files of coxswain up --operator, which share their watches', async () => {
    using folder = scratch()
    const ports = [await freePort(), await freePort()]
    const [metrics = '', health = ''] = ports.map(port => `127.0.0.1:${port}`)
    await using cluster = await launch(
      ...['--storage', 'memory', '--controllers', 'none', '--metrics-bind-address', metrics],
      ...['--metrics-secure=false', '--health-probe-bind-address', health],
      ...['--operator', folder.file('first.mjs', first), folder.file('second.mjs', second)],
    )
    const { text } = await ask(`http://${metrics}/metrics`)
    for (const controller of ['maps', 'others'])
      assert.match(
        text,
        new RegExp(`controller_runtime_max_concurrent_reconciles\\{controller="${controller}"`),
      )
    assert.match(
      (await ask(`http://${health}/readyz?verbose`)).text,
      /\+\]first\.mood ok\n\[\+\]second\.mood ok/,
    )
    const served = new TextDecoder().decode(
      await readBody(
        (
          await cluster.transport.send({
            method: 'GET',
            path: '/metrics',
            query: '',
            headers: {},
            signal: new AbortController().signal,
          })
        ).body,
      ),
    )
    const [, watches] =
      /^apiserver_longrunning_requests\{verb="WATCH"[^}]*resource="configmaps"[^}]*\} (\d+)$/m.exec(served) ??
      []
    assert.equal(watches, '1', 'one watch of ConfigMaps for two operators')
    assert.equal(await cluster.up.stop(), 0)
  })
})
