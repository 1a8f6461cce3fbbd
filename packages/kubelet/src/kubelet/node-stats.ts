import { formatTime } from '@coxswain/apimachinery/time'
import type { PodView } from '@coxswain/kinds'
import { maxOf, minOf } from '@coxswain/kit'
import type { ContainerRuntime, ContainerUsage } from '../container-runtime.ts'

export interface NodeStatsOptions {
  readonly node: string
  readonly runtime: ContainerRuntime
  readonly pods: () => readonly PodView[]
}

/** The usage of one Pod's containers. */
interface PodUsage {
  readonly pod: PodView
  readonly containers: readonly ContainerUsage[]
}

/** Within this time of a measurement its rate is reported again: a few milliseconds are too short to measure. */
const shortestInterval = 1_000

/** The CPU rate at the last measurement. */
interface Rate {
  readonly time: number
  readonly cpuNanoseconds: number
  readonly nanoCores: number
}

/** The usage of a node's containers, in the kubelet's formats. Empty where the runtime does not measure it. */
export class NodeStats {
  readonly #options: NodeStatsOptions
  /** By Pod and container. */
  #rates = new Map<string, Rate>()
  #nodeRate: Rate | undefined

  constructor(options: NodeStatsOptions) {
    this.#options = options
  }

  /** `/stats/summary`. */
  async summary(nodeName: string): Promise<object> {
    const usages = await this.#read()
    const all = usages.flatMap(({ containers }) => containers)
    return {
      node: { nodeName, ...this.#nodeParts(all) },
      pods: usages.map(({ pod: { metadata, status }, containers }) => ({
        podRef: { name: metadata.name, namespace: metadata.namespace, uid: metadata.uid },
        startTime: status?.startTime ?? metadata.creationTimestamp ?? null,
        containers: containers.map(usage => ({
          name: usage.container,
          startTime: formatTime(usage.startedAt),
          ...this.#partsOf([usage]),
        })),
        ...this.#partsOf(containers),
      })),
    }
  }

  /** `/metrics/resource`: what metrics-server reads. */
  async resourceMetrics(): Promise<string> {
    const usages = await this.#read()
    const out = new Exposition()
    const ofContainers = (
      name: string,
      kind: string,
      help: string,
      value: (usage: ContainerUsage) => number,
    ) => {
      out.family(name, kind, help)
      for (const { containers } of usages)
        for (const usage of containers) {
          const { namespace, name: pod } = usage.pod
          out.sample(name, { container: usage.container, namespace, pod }, value(usage), usage.time)
        }
    }
    const ofPods = (name: string, kind: string, help: string, value: (usage: ContainerUsage) => number) => {
      out.family(name, kind, help)
      for (const { pod, containers } of usages) {
        const { namespace = '', name: of } = pod.metadata
        if (containers.length > 0)
          out.sample(name, { namespace, pod: of }, sum(containers, value), latest(containers))
      }
    }
    const all = usages.flatMap(({ containers }) => containers)
    const node = this.#options.runtime.nodeUsage?.()
    const ofNode = (name: string, kind: string, help: string, value: (usage: Used) => number) => {
      out.family(name, kind, help)
      if (node) out.sample(name, {}, value(node), node.time)
      else if (all.length > 0) out.sample(name, {}, sum(all, value), latest(all))
    }
    const cpu = 'Cumulative cpu time consumed by the'
    const memory = 'Current working set of the'
    ofContainers(
      'container_cpu_usage_seconds_total',
      'counter',
      `${cpu} container in core-seconds`,
      cpuSeconds,
    )
    ofContainers('container_memory_working_set_bytes', 'gauge', `${memory} container in bytes`, memoryBytes)
    ofContainers(
      'container_start_time_seconds',
      'gauge',
      'Start time of the container since unix epoch in seconds',
      ({ startedAt }) => startedAt / 1000,
    )
    ofNode('node_cpu_usage_seconds_total', 'counter', `${cpu} node in core-seconds`, cpuSeconds)
    ofNode('node_memory_working_set_bytes', 'gauge', `${memory} node in bytes`, memoryBytes)
    ofPods('pod_cpu_usage_seconds_total', 'counter', `${cpu} pod in core-seconds`, cpuSeconds)
    ofPods('pod_memory_working_set_bytes', 'gauge', `${memory} pod in bytes`, memoryBytes)
    out.family(
      'resource_scrape_error',
      'gauge',
      '1 if there was an error while getting container metrics, 0 otherwise',
    )
    out.sample('resource_scrape_error', {}, 0)
    return out.text
  }

  /** `/metrics/cadvisor`: the metrics that most dashboards use. */
  async cadvisorMetrics(): Promise<string> {
    const usages = await this.#read()
    const out = new Exposition()
    const each = (name: string, kind: string, help: string, value: (usage: ContainerUsage) => number) => {
      out.family(name, kind, help)
      for (const { pod, containers } of usages)
        for (const usage of containers) {
          const { namespace = '', name: of, uid } = pod.metadata
          const image = pod.spec.containers.find(candidate => candidate.name === usage.container)?.image ?? ''
          const id = `/kubepods/pod${uid}/${usage.container}`
          out.sample(
            name,
            { container: usage.container, id, image, namespace, pod: of },
            value(usage),
            usage.time,
          )
        }
    }
    each(
      'container_cpu_usage_seconds_total',
      'counter',
      'Cumulative cpu time consumed in seconds.',
      cpuSeconds,
    )
    each('container_memory_usage_bytes', 'gauge', 'Current memory usage in bytes.', memoryBytes)
    each('container_memory_working_set_bytes', 'gauge', 'Current working set in bytes.', memoryBytes)
    each(
      'container_start_time_seconds',
      'gauge',
      'Start time of the container since unix epoch in seconds.',
      ({ startedAt }) => startedAt / 1000,
    )
    return out.text
  }

  /** `/metrics`: the kubelet itself. */
  ownMetrics(): string {
    const { node, pods } = this.#options
    const statuses = pods().map(({ status }) => status?.containerStatuses ?? [])
    const running = statuses.map(of => of.filter(({ state }) => state?.running).length)
    const out = new Exposition()
    out.family('kubelet_node_name', 'gauge', "The node's name. The count is always 1.")
    out.sample('kubelet_node_name', { node }, 1)
    out.family('kubelet_running_containers', 'gauge', 'Number of containers currently running')
    out.sample(
      'kubelet_running_containers',
      { container_state: 'running' },
      running.reduce((a, b) => a + b, 0),
    )
    out.family('kubelet_running_pods', 'gauge', 'Number of pods that have a running pod sandbox')
    out.sample('kubelet_running_pods', {}, running.filter(count => count > 0).length)
    return out.text
  }

  async #read(): Promise<PodUsage[]> {
    const { runtime, pods } = this.#options
    const own = pods()
    const usages = (await runtime.usage?.(own)) ?? []
    const byPod = Map.groupBy(usages, ({ pod }) => pod.uid)
    const found = own.map(pod => ({ pod, containers: byPod.get(pod.metadata.uid) ?? [] }))
    this.#takeRates(found.flatMap(({ containers }) => containers))
    return found
  }

  /** At the first measurement the rate is the average since the container's start. */
  #takeRates(usages: readonly ContainerUsage[]): void {
    const rates = new Map<string, Rate>()
    for (const usage of usages) {
      const key = `${usage.pod.uid}/${usage.container}`
      rates.set(key, rateAt(usage, this.#rates.get(key)))
    }
    this.#rates = rates
  }

  /** The usage of the machine where the runtime reports it, or the sum of its containers. */
  #nodeParts(all: readonly ContainerUsage[]): object {
    const node = this.#options.runtime.nodeUsage?.()
    if (!node) {
      const startedAt = minOf(all.map(usage => usage.startedAt))
      return { ...(all.length > 0 && { startTime: formatTime(startedAt) }), ...this.#partsOf(all) }
    }
    const time = formatTime(node.time)
    this.#nodeRate = rateAt(node, this.#nodeRate)
    const { capacityBytes, availableBytes } = node.disk
    return {
      startTime: formatTime(node.startedAt),
      cpu: {
        time,
        usageNanoCores: this.#nodeRate.nanoCores,
        usageCoreNanoSeconds: Math.round(node.cpuNanoseconds),
      },
      memory: {
        time,
        availableBytes: node.availableMemoryBytes,
        usageBytes: node.memoryBytes,
        workingSetBytes: node.memoryBytes,
      },
      fs: { time, availableBytes, capacityBytes, usedBytes: capacityBytes - availableBytes },
    }
  }

  #partsOf(usages: readonly ContainerUsage[]): object {
    if (usages.length === 0) return {}
    const time = formatTime(latest(usages))
    const rateOf = ({ pod, container }: ContainerUsage) =>
      this.#rates.get(`${pod.uid}/${container}`)?.nanoCores ?? 0
    const bytes = sum(usages, memoryBytes)
    return {
      cpu: {
        time,
        usageNanoCores: sum(usages, rateOf),
        usageCoreNanoSeconds: sum(usages, ({ cpuNanoseconds }) => cpuNanoseconds),
      },
      memory: { time, usageBytes: bytes, workingSetBytes: bytes },
    }
  }
}

type Used = Pick<ContainerUsage, 'time' | 'startedAt' | 'cpuNanoseconds' | 'memoryBytes' | 'nanoCores'>

/** How fast it was used since it was last looked at, or since its start. */
function rateAt({ time, startedAt, cpuNanoseconds, nanoCores: now }: Used, known: Rate | undefined): Rate {
  if (now !== undefined) return { time, cpuNanoseconds, nanoCores: now }
  const isSameLife = known !== undefined && known.cpuNanoseconds <= cpuNanoseconds
  if (isSameLife && time - known.time < shortestInterval) return known
  const before = isSameLife ? known : { time: startedAt, cpuNanoseconds: 0 }
  const seconds = (time - before.time) / 1000
  const nanoCores = seconds > 0 ? Math.round((cpuNanoseconds - before.cpuNanoseconds) / seconds) : 0
  return { time, cpuNanoseconds, nanoCores }
}

const cpuSeconds = ({ cpuNanoseconds }: Used): number => cpuNanoseconds / 1e9
const memoryBytes = (usage: Used): number => usage.memoryBytes

function sum(usages: readonly ContainerUsage[], value: (usage: ContainerUsage) => number): number {
  return usages.reduce((total, usage) => total + value(usage), 0)
}

function latest(usages: readonly ContainerUsage[]): number {
  return maxOf(usages.map(({ time }) => time))
}

/** Prometheus' text format; a family without samples is left out. */
class Exposition {
  text = ''
  #heading = ''

  family(name: string, kind: string, help: string): void {
    this.#heading = `# HELP ${name} ${help}\n# TYPE ${name} ${kind}\n`
  }

  sample(name: string, labels: Readonly<Record<string, string>>, value: number, time?: number): void {
    const pairs = Object.entries(labels).map(([label, of]) => `${label}=${JSON.stringify(of)}`)
    const place = pairs.length > 0 ? `{${pairs.join(',')}}` : ''
    this.text += `${this.#heading}${name}${place} ${value}${time === undefined ? '' : ` ${Math.round(time)}`}\n`
    this.#heading = ''
  }
}
