import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Pod } from '@coxswain/api/core/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import { newBadRequest } from '@coxswain/apimachinery/status'
import type { ContainerRuntime, ContainerUsage, LogOptions } from '../container-runtime.ts'
import { createKubeletApi } from './kubelet-api.ts'

const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'default', uid: 'u-1' },
  spec: {
    nodeName: 'node-1',
    containers: [
      { name: 'main', image: 'nginx' },
      { name: 'idle', image: 'x' },
    ],
  },
  status: {
    startTime: '2026-01-01T00:00:00Z',
    containerStatuses: [
      { name: 'main', state: { running: { startedAt: '2026-01-01T00:00:00Z' } } },
      { name: 'idle', state: { waiting: { reason: 'X' } } },
    ],
  },
} as unknown as DeepReadonly<Pod>

const start = Date.parse('2026-01-01T00:00:00Z')
const usageAt = (seconds: number, cpuSeconds: number): ContainerUsage => ({
  pod: { uid: 'u-1', namespace: 'default', name: 'web' },
  container: 'main',
  time: start + seconds * 1000,
  startedAt: start,
  cpuNanoseconds: cpuSeconds * 1e9,
  memoryBytes: 1_000_000,
})

function open(usages: ContainerUsage[] = [], readLog?: (options: LogOptions) => AsyncIterable<Uint8Array>) {
  const foreign = { ...usageAt(10, 99), pod: { uid: 'u-2', namespace: 'default', name: 'elsewhere' } }
  const runtime = { usage: async () => [usages.shift() ?? usageAt(0, 0), foreign] }
  const asked: string[] = []
  const api = createKubeletApi({
    node: 'node-1',
    runtime: runtime as unknown as ContainerRuntime,
    pods: () => [pod],
    readLog: async ({ namespace, name }, container, options) => {
      const { signal: _, ...rest } = options
      asked.push(`${namespace}/${name}/${container} ${JSON.stringify(rest)}`)
      if (!readLog) throw newBadRequest('nothing was said')
      return readLog(options)
    },
  })
  const { signal } = new AbortController()
  const ask = async (target: string, method = 'GET') => {
    const [path = '', query = ''] = target.split('?')
    const { status, headers, body } = await api({ method, path, query, signal })
    let text = ''
    if (body instanceof Uint8Array) text = new TextDecoder().decode(body)
    else for await (const chunk of body) text += new TextDecoder().decode(chunk)
    return { status, type: headers['content-type'], text }
  }
  return { ask, asked }
}

describe("the kubelet's own API", () => {
  it('serves health checks and its own Pods', async () => {
    const { ask } = open()
    assert.deepEqual(await ask('/healthz'), { status: 200, type: 'text/plain; charset=utf-8', text: 'ok' })
    const list = JSON.parse((await ask('/pods')).text)
    assert.deepEqual([list.kind, list.items.length, list.items[0].metadata.name], ['PodList', 1, 'web'])
    const running = JSON.parse((await ask('/runningpods/')).text)
    assert.deepEqual(running.items[0].spec.containers, [{ name: 'main', image: 'nginx' }])
    assert.equal(JSON.parse((await ask('/configz')).text).kubeletconfig.kind, 'KubeletConfiguration')
    assert.match((await ask('/metrics')).text, /^kubelet_running_containers\{container_state="running"\} 1$/m)
  })

  it('rejects everything that would change something', async () => {
    const { ask } = open()
    for (const path of [
      '/',
      '/exec/default/web/main',
      '/run/default/web/main',
      '/logs/',
      '/containerLogs/default/web',
    ])
      assert.equal((await ask(path)).status, 404, path)
    assert.equal((await ask('/pods', 'POST')).status, 405)
    assert.equal((await ask('/containerLogs/default/web/main', 'DELETE')).status, 405)
  })

  it('serves the logs of containers', async () => {
    const { ask, asked } = open([], async function* () {
      yield new TextEncoder().encode('a\n')
      yield new TextEncoder().encode('b\n')
    })
    const query = '?follow=true&previous=true&tailLines=5&limitBytes=x&sinceTime=2026-01-01T00:00:00Z'
    assert.equal((await ask(`/containerLogs/default/web/main${query}`)).text, 'a\nb\n')
    const options = { follow: true, previous: true, timestamps: false, tailLines: 5, since: start }
    assert.deepEqual(asked, [`default/web/main ${JSON.stringify(options)}`])
    const silent = open()
    assert.deepEqual(await silent.ask('/containerLogs/default/web/main'), {
      status: 400,
      type: 'text/plain; charset=utf-8',
      text: 'nothing was said',
    })
  })

  it('serves the usage of its containers, with the rate since the last request', async () => {
    const { ask } = open([usageAt(10, 5), usageAt(20, 5.5), usageAt(20.1, 5.6), usageAt(30, 0.1)])
    const rates: number[] = []
    for (let i = 0; i < 4; i++) {
      const { node, pods } = JSON.parse((await ask('/stats/summary')).text)
      assert.equal(node.nodeName, 'node-1')
      assert.equal(node.memory.workingSetBytes, 1_000_000)
      assert.deepEqual(pods[0].podRef, { name: 'web', namespace: 'default', uid: 'u-1' })
      assert.equal(pods[0].containers[0].name, 'main')
      assert.equal(node.cpu.usageNanoCores, pods[0].containers[0].cpu.usageNanoCores)
      rates.push(pods[0].cpu.usageNanoCores)
    }
    // Since its start; ten seconds with half a second; almost no time; a restart thirty seconds ago.
    assert.deepEqual(rates, [500_000_000, 50_000_000, 50_000_000, 3_333_333])
  })

  it("serves the same in Prometheus' text format", async () => {
    const { ask } = open([usageAt(10, 5), usageAt(10, 5)])
    const time = start + 10_000
    const { text } = await ask('/metrics/resource')
    const lines = text.split('\n').filter(line => !line.startsWith('#'))
    const container = '{container="main",namespace="default",pod="web"}'
    assert.deepEqual(lines, [
      `container_cpu_usage_seconds_total${container} 5 ${time}`,
      `container_memory_working_set_bytes${container} 1000000 ${time}`,
      `container_start_time_seconds${container} ${start / 1000} ${time}`,
      `node_cpu_usage_seconds_total 5 ${time}`,
      `node_memory_working_set_bytes 1000000 ${time}`,
      `pod_cpu_usage_seconds_total{namespace="default",pod="web"} 5 ${time}`,
      `pod_memory_working_set_bytes{namespace="default",pod="web"} 1000000 ${time}`,
      'resource_scrape_error 0',
      '',
    ])
    assert.match(
      (await ask('/metrics/cadvisor')).text,
      /container_memory_usage_bytes\{.*image="nginx".*\} 1000000/,
    )
  })

  it('reports the usage of the whole machine where the runtime measures it', async () => {
    const nodeUsage = () => ({
      time: start + 10_000,
      startedAt: start,
      cpuNanoseconds: 5e9,
      memoryBytes: 700,
      availableMemoryBytes: 300,
      disk: { capacityBytes: 90, availableBytes: 60 },
    })
    const api = createKubeletApi({
      node: 'node-1',
      runtime: { nodeUsage } as unknown as ContainerRuntime,
      pods: () => [],
      readLog: async () => assert.fail(),
    })
    const { signal } = new AbortController()
    const ask = async (path: string) => {
      const { body } = await api({ method: 'GET', path, query: '', signal })
      return new TextDecoder().decode(body as Uint8Array)
    }
    const metrics = await ask('/metrics/resource')
    assert.match(metrics, /^node_cpu_usage_seconds_total 5 1767225610000$/m)
    assert.match(metrics, /^node_memory_working_set_bytes 700 1767225610000$/m)
    const { node } = JSON.parse(await ask('/stats/summary'))
    assert.equal(node.cpu.usageNanoCores, 5e8)
    assert.equal(node.memory.availableBytes, 300)
    assert.deepEqual(node.fs, {
      time: '2026-01-01T00:00:10Z',
      availableBytes: 60,
      capacityBytes: 90,
      usedBytes: 30,
    })
  })
})
