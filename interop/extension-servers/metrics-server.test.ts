import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { createSeededRandom } from '@coxswain/kit'
import { createCertificate, serve } from '@coxswain/wire/node'
import { type Caller, createCaller } from '../aggregation/facts.ts'
import { type RunningServer, startServer } from '../support/coxswain.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { createKubectl, type Kubectl } from '../support/kubectl.ts'
import { type ExtensionProgram, registerProgram, startExtension, waitForReason } from './extension-program.ts'

const name = 'metrics-server'
/** Cores that the only Pod uses. */
const cores = 0.4

/** A kubelet as far as metrics-server knows: the usage of a node and of the Pods that `pods` names. */
async function startMetricsKubelet(pods: () => readonly string[]) {
  const started = Date.now()
  const times = { notBefore: started - 60_000, notAfter: started + 3_600_000 }
  const template = {
    subject: { commonName: 'kubelet' },
    usages: ['server'] as const,
    hosts: ['127.0.0.1'],
    ...times,
  }
  const pair = createCertificate(template, createSeededRandom(1))
  const handler = async ({ path }: { readonly path: string }) => {
    if (path !== '/metrics/resource') return { status: 404, headers: {} }
    const now = Date.now()
    const used = ((now - started) / 1_000 + 100) * cores
    const lines = [
      `node_cpu_usage_seconds_total ${used} ${now}`,
      `node_memory_working_set_bytes 67108864 ${now}`,
      ...pods().flatMap(pod => {
        const labels = `{container="main",namespace="default",pod="${pod}"}`
        return [
          `container_cpu_usage_seconds_total${labels} ${used} ${now}`,
          `container_memory_working_set_bytes${labels} 33554432 ${now}`,
          `container_start_time_seconds${labels} ${started / 1_000 - 100} ${now}`,
        ]
      }),
    ]
    const headers = { 'content-type': 'text/plain; version=0.0.4' }
    return { status: 200, headers, body: new TextEncoder().encode(`${lines.join('\n')}\n`) }
  }
  return await serve({ handler, tls: { cert: pair.certificate, key: pair.key } })
}

const manifest = `
apiVersion: apps/v1
kind: Deployment
metadata: { name: web }
spec:
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec:
      containers: [{ name: main, image: web, resources: { requests: { cpu: 200m } } }]
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: { name: web }
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: web }
  minReplicas: 1
  maxReplicas: 3
  metrics: [{ type: Resource, resource: { name: cpu, target: { type: Utilization, averageUtilization: 100 } } }]
`

describe('metrics-server behind our aggregator', () => {
  const stack = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-metrics-'))
  let server: RunningServer
  let kubectl: Kubectl
  let caller: Caller
  let metrics: ExtensionProgram
  let pods: readonly string[] = []

  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await kubectl(...args)
    assert.equal(code, 0, `kubectl ${args.join(' ')}: ${stderr}`)
    return stdout
  }

  before(async () => {
    stack.defer(() => rmSync(folder, { recursive: true, force: true }))
    server = stack.use(await startServer())
    kubectl = createKubectl('1.36', server.kubeconfig)
    caller = createCaller(server.kubeconfig)
    const kubelet = stack.use(await startMetricsKubelet(() => pods))
    const file = join(folder, 'web.yaml')
    writeFileSync(file, manifest)
    await run('apply', '-f', file)
    pods = await eventually('a Pod', async () => {
      const names = (await run('get', 'pods', '-l', 'app=web', '-o', 'name')).trim()
      return names === '' ? undefined : names.split('\n').map(each => each.replace('pod/', ''))
    })
    const node = {
      metadata: { name: 'measured' },
      status: {
        addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
        daemonEndpoints: { kubeletEndpoint: { Port: kubelet.port } },
        conditions: [{ type: 'Ready', status: 'True' }],
      },
    }
    const headers = { 'content-type': 'application/json' }
    await caller.send('POST', '/api/v1/nodes', { headers, body: JSON.stringify(node) })
    const args = [
      '--kubelet-insecure-tls',
      '--kubelet-use-node-status-port',
      '--kubelet-preferred-address-types=InternalIP',
      '--metric-resolution=10s',
      '--kubelet-request-timeout=5s',
    ]
    metrics = stack.use(startExtension({ name, kubeconfig: server.kubeconfig, args }, await freePort()))
    await registerProgram(caller, name, metrics, [
      { group: 'metrics.k8s.io', version: 'v1beta1', priority: 100 },
    ])
    await waitForReason(caller, 'v1beta1.metrics.k8s.io', 'Passed')
  })
  after(() => stack.disposeAsync())

  it('takes the place of the built-in metrics, and kubectl top shows what it measures', async () => {
    const nodes = await eventually('usage of the node', async () => {
      const { code, stdout } = await kubectl('top', 'nodes')
      return code === 0 && stdout.includes('measured') ? stdout : undefined
    })
    assert.match(nodes, /^measured +[34]\d\dm .* 64Mi/m)
    const usage = await eventually('usage of the Pod', async () => {
      const { code, stdout } = await kubectl('top', 'pods')
      return code === 0 && stdout.includes(pods[0]!) ? stdout : undefined
    })
    assert.match(usage, /[34]\d\dm +32Mi/)
  })

  it('drives a HorizontalPodAutoscaler', async () => {
    await eventually('two replicas', async () => {
      const { stdout } = await kubectl('get', 'deployment', 'web', '-o', 'jsonpath={.spec.replicas}')
      return Number(stdout) >= 2
    })
  })

  it('says when it is killed, comes back, and leaves the built-in metrics when it is removed', async () => {
    await metrics.kill()
    await waitForReason(caller, 'v1beta1.metrics.k8s.io', 'FailedDiscoveryCheck')
    const { stderr } = await kubectl('top', 'nodes')
    assert.match(stderr, /Metrics API not available|unable to handle the request/)
    metrics.start()
    await waitForReason(caller, 'v1beta1.metrics.k8s.io', 'Passed')
    await run('delete', 'apiservice', 'v1beta1.metrics.k8s.io')
    await eventually('the built-in metrics', async () => {
      const { text } = await caller.send('GET', '/apis/metrics.k8s.io/v1beta1/nodes')
      return text.includes('NodeMetricsList') && !text.includes('measured')
    })
  })
})
