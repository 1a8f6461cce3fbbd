import { isNodeReady, type NodeView } from '@coxswain/kinds'
import { decodeText, type Env } from '@coxswain/kit'
import { listOf, objectOf, textOf } from '@coxswain/strategies'
import { readBody } from '@coxswain/wire'
import type { KubeletPorts } from './kubelet.ts'
import { readFromKubelet } from './kubelet-request.ts'
import type { NodeConnection } from './node-connection.ts'

/** What reading the usage of nodes needs of the server. */
export interface UsagePorts extends KubeletPorts {
  readonly env: Env
  /** The way to the kubelets of this process, where there are any. */
  readonly nodes?: NodeConnection
}

export interface Usage {
  /** When it was measured, RFC 3339. */
  readonly time: string
  readonly nanoCores: number
  readonly memoryBytes: number
}

export interface PodUsage {
  /** When the last of its containers was measured, RFC 3339. */
  readonly time: string
  readonly containers: readonly (Usage & { readonly name: string })[]
}

/** What all kubelets report. */
export interface ClusterUsage {
  readonly nodes: ReadonlyMap<string, Usage>
  /** By `NAMESPACE/NAME`. */
  readonly pods: ReadonlyMap<string, PodUsage>
}

/** Milliseconds for which a reading is served; metrics-server's default. */
export const resolution = 15_000
/** After this pause our own nodes, which measure when they are asked, would report the average over all of it. */
const longestPause = 60_000
/** Milliseconds between two readings that are taken for the rate between them. */
const shortestInterval = 1_100
/** Milliseconds that a kubelet has to answer. */
const timeout = 5_000
/** Kubelets that are asked at one time. */
const concurrency = 16
const nodesPrefix = '/core/nodes/'

/** Reads what nodes and Pods use from all kubelets when a client asks, at most every 15 seconds. */
export class UsageCollector {
  readonly #ports: UsagePorts
  #latest: { readonly at: number; readonly usage: Promise<ClusterUsage> } | undefined

  constructor(ports: UsagePorts) {
    this.#ports = ports
  }

  /** Nodes that are not ready or do not answer are left out. */
  collect(): Promise<ClusterUsage> {
    const now = this.#ports.env.clock.now()
    const age = this.#latest ? now - this.#latest.at : Number.POSITIVE_INFINITY
    if (this.#latest && age >= 0 && age < resolution) return this.#latest.usage
    const usage = age > longestPause ? this.#readAfterPause() : this.#readAll(this.#readyNodes())
    this.#latest = { at: now, usage }
    usage.catch(() => {
      this.#latest = undefined
    })
    return usage
  }

  async #readAfterPause(): Promise<ClusterUsage> {
    const { nodes } = this.#ports
    const names = this.#readyNodes()
    const own = names.filter(name => nodes?.hasNode(name))
    if (own.length > 0) {
      await this.#readAll(own)
      await this.#ports.env.clock.sleep(shortestInterval)
    }
    return await this.#readAll(names)
  }

  #readyNodes(): string[] {
    const stored = this.#ports.cache.resource(nodesPrefix).list()
    return stored.filter(node => isNodeReady(node.parse() as unknown as NodeView)).map(({ name }) => name)
  }

  async #readAll(names: readonly string[]): Promise<ClusterUsage> {
    const usage = { nodes: new Map<string, Usage>(), pods: new Map<string, PodUsage>() }
    const left = names.values()
    const work = async () => {
      for (const name of left) {
        try {
          this.#add(usage, name, JSON.parse(await this.#ask(name)))
        } catch (error) {
          this.#ports.env.log.debug('the usage of a node could not be read', { node: name, error })
        }
      }
    }
    await Promise.all(Array.from({ length: concurrency }, work))
    return usage
  }

  async #ask(node: string): Promise<string> {
    const { nodes, env } = this.#ports
    const late = new AbortController()
    const timer = env.clock.after(timeout, () => late.abort(new Error('the kubelet does not answer')))
    const { signal } = late
    const path = '/stats/summary'
    try {
      if (!nodes?.hasNode(node)) {
        const options = { signal, resource: 'nodes', name: node, insecure: false }
        return decodeText(
          await readBody(await readFromKubelet(this.#ports, { node, path, query: {} }, options)),
        )
      }
      const { status, body } = await nodes.ask(node, { method: 'GET', path, query: '', headers: {}, signal })
      const text = decodeText(await readBody(body))
      if (status !== 200) throw new Error(text)
      return text
    } finally {
      timer.cancel()
    }
  }

  #add(
    usage: { readonly nodes: Map<string, Usage>; readonly pods: Map<string, PodUsage> },
    name: string,
    summary: unknown,
  ): void {
    const { node, pods } = objectOf(summary)
    const time = new Date(this.#ports.env.clock.now()).toISOString().replace(/\.\d+/, '')
    // A node without containers may have nothing to report.
    usage.nodes.set(name, readUsage(node) ?? { time, nanoCores: 0, memoryBytes: 0 })
    for (const pod of listOf(pods)) {
      const { namespace, name: of } = objectOf(pod.podRef)
      const containers = listOf(pod.containers).map(container => {
        const used = readUsage(container)
        return used && { name: textOf(container.name), ...used }
      })
      const known = containers.filter(container => container !== undefined)
      // As metrics-server: what is known of some containers only is not what the Pod uses.
      if (known.length === 0 || known.length < containers.length) continue
      const latest = known
        .map(container => container.time)
        .sort()
        .at(-1)!
      usage.pods.set(`${textOf(namespace)}/${textOf(of)}`, { time: latest, containers: known })
    }
  }
}

function readUsage(stats: unknown): Usage | undefined {
  const { cpu, memory } = objectOf(stats)
  const { time, usageNanoCores } = objectOf(cpu)
  const { workingSetBytes } = objectOf(memory)
  if (typeof usageNanoCores !== 'number' || typeof workingSetBytes !== 'number') return undefined
  return {
    time: textOf(time),
    nanoCores: Math.round(usageNanoCores),
    memoryBytes: Math.round(workingSetBytes),
  }
}
