import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { request } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Access } from '../apiserver/access.ts'
import { Load } from '../apiserver/load.ts'
import { type Server, startKubernetes, startOurs } from '../apiserver/servers.ts'
import type { BenchDefinition } from '../harness.ts'

const group = 'bench.example'
const direct = '/api/v1/namespaces/default/configmaps/bench'
const through = `/apis/${group}/v1/namespaces/default/things/bench`
const object = {
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name: 'bench' },
  data: { text: 'x'.repeat(1_000) },
}

/** A POST with `value`, a GET without; the status of the response. */
function send(access: Access, path: string, value?: object): Promise<number | undefined> {
  const { host, port, ca, cert, key, token } = access
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) }
    const sent = request(
      { host, port, ca, cert, key, method: value ? 'POST' : 'GET', path, headers, agent: false },
      response => response.resume().on('end', () => resolve(response.statusCode)),
    )
    sent.on('error', reject)
    sent.end(value && JSON.stringify(value))
  })
}

/** Puts the extension API server behind `access`, and waits until it is available. */
async function register(
  access: Access,
  extension: { readonly port: number; readonly ca: string },
): Promise<void> {
  await send(access, '/api/v1/namespaces', { metadata: { name: 'default' } })
  await send(access, '/api/v1/namespaces/default/configmaps', object)
  await send(access, '/api/v1/namespaces/default/services', {
    metadata: { name: 'bench' },
    spec: { type: 'ExternalName', externalName: 'localhost' },
  })
  await send(access, '/apis/apiregistration.k8s.io/v1/apiservices', {
    metadata: { name: `v1.${group}` },
    spec: {
      group,
      version: 'v1',
      groupPriorityMinimum: 100,
      versionPriority: 10,
      service: { namespace: 'default', name: 'bench', port: extension.port },
      caBundle: extension.ca,
    },
  })
  for (let i = 0; (await send(access, through)) !== 200; i++) {
    if (i === 300) throw new Error('the extension API server did not become available')
    await sleep(100)
  }
}

async function startExtension(): Promise<{
  readonly child: ChildProcess
  readonly port: number
  readonly ca: string
}> {
  const program = fileURLToPath(new URL('extension.ts', import.meta.url))
  const child = spawn(process.execPath, [program, JSON.stringify(object)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(child.stdout!, 'data')
  const [port = '', ca = ''] = String(line).trim().split(' ')
  return { child, port: Number(port), ca }
}

export const bench: BenchDefinition = {
  title: 'aggregation: a get through the aggregator, beside a get of an object of the same size',
  rounds: 7,
  async cases(stack) {
    const extension = await startExtension()
    stack.defer(() => void extension.child.kill())
    const load = stack.use(new Load())
    const ours = stack.use(await startOurs())
    const kubernetes = stack.use(await startKubernetes())
    for (const { access } of [ours, kubernetes]) await register(access, extension)
    /** Microseconds of processor time for a request. */
    const cost = async (server: Server, path: string) => {
      const job = { type: 'get', protocol: 'h2', clients: 16, milliseconds: 2_000 } as const
      const { cpu, count } = await load.run(server, { ...job, access: server.access, path })
      return (cpu * 1_000) / count
    }
    return [
      {
        name: 'get through the aggregator, processor time of the API server',
        unit: 'µs',
        measure: () => cost(ours, through),
        reference: { name: 'a get of its own', measure: () => cost(ours, direct) },
        goal: { of: 'ratio', atMost: 1.6 },
      },
      {
        name: 'the same of kube-apiserver 1.36 and etcd 3.6',
        unit: 'µs',
        measure: () => cost(kubernetes, through),
        reference: { name: 'a get of its own', measure: () => cost(kubernetes, direct) },
      },
      {
        name: 'get through the aggregator',
        unit: 'µs',
        measure: () => cost(ours, through),
        reference: { name: 'kube-apiserver 1.36', measure: () => cost(kubernetes, through) },
        goal: { of: 'ratio', atMost: 1 },
      },
    ]
  },
}
