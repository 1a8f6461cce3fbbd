import type { PodView } from '@coxswain/kinds'
import type { NodeInfo } from './node-info.ts'
import type { Verdict } from './plugin.ts'
import type { PodInfo } from './pod-info.ts'

/** An entry of `extenders` in a scheduler configuration. */
export interface ExtenderConfiguration {
  readonly urlPrefix: string
  readonly filterVerb?: string
  readonly preemptVerb?: string
  readonly prioritizeVerb?: string
  readonly bindVerb?: string
  /** @default 1 */
  readonly weight?: number
  /** Send node names instead of nodes. @default false */
  readonly nodeCacheCapable?: boolean
  /** Schedule pods without it if it fails. @default false */
  readonly ignorable?: boolean
  /** Only pods that request one of these. @default all pods */
  readonly managedResources?: readonly {
    readonly name: string
    /** NodeResourcesFit ignores it. @default false */
    readonly ignoredByScheduler?: boolean
  }[]
  /** Used by the connection, like the following fields. @default false */
  readonly enableHTTPS?: boolean
  readonly tlsConfig?: ExtenderTlsConfiguration
  /** A Go duration. @default `5s` */
  readonly httpTimeout?: string
}

/** Files, or their contents in base64. */
export interface ExtenderTlsConfiguration {
  readonly insecure?: boolean
  readonly serverName?: string
  readonly certFile?: string
  readonly keyFile?: string
  readonly caFile?: string
  readonly certData?: string
  readonly keyData?: string
  readonly caData?: string
}

/** Posts `body` as JSON to a URL and resolves with the JSON response. Rejects on failure. */
export type PostJson = (url: string, body: unknown) => Promise<unknown>

/** A node and the pods to be preempted there. */
export interface NodeVictims {
  readonly node: NodeInfo
  readonly victims: readonly PodInfo[]
  /** The number of victims whose disruption budget is exhausted. */
  readonly violations: number
}

/** A process that extends scheduling over HTTP. */
export interface Extender {
  readonly canBind: boolean
  readonly canPreempt: boolean
  isInterestedIn(pod: PodView): boolean
  /** The remaining nodes; verdicts explain the rejected ones. Rejects on failure unless it is ignorable. */
  filter(
    pod: PodView,
    nodes: readonly NodeInfo[],
    verdicts: Map<string, Verdict>,
  ): Promise<readonly NodeInfo[]>
  /** Weighted scores by node, on the scale of the plug-ins' sums. */
  prioritize(pod: PodView, nodes: readonly NodeInfo[]): Promise<ReadonlyMap<string, number>>
  /** The nodes and victims that it accepts. Rejects on failure unless it is ignorable. */
  preempt(pod: PodView, candidates: readonly NodeVictims[]): Promise<readonly NodeVictims[]>
  bind(pod: PodView, node: string): Promise<void>
}

interface HostPriority {
  readonly host: string
  readonly score?: number
}

/** Lower-cases keys: Go decodes JSON case-insensitively. */
function lowerKeys(answer: unknown): Record<string, unknown> {
  const entries = Object.entries((answer ?? {}) as object)
  return Object.fromEntries(entries.map(([key, value]) => [key.toLowerCase(), value]))
}

interface FilterAnswer {
  readonly nodes?: { readonly items?: readonly { readonly metadata: { readonly name: string } }[] }
  readonly nodenames?: readonly string[]
  readonly failednodes?: Readonly<Record<string, string>>
  readonly failedandunresolvablenodes?: Readonly<Record<string, string>>
  readonly error?: string
}

/** Extenders score from 0 to 10, plug-ins to 100. */
const scoreFactor = 10

/** Creates an extender that calls its server through `post`. */
export function createExtender(configuration: ExtenderConfiguration, post: PostJson): Extender {
  const { urlPrefix, filterVerb, prioritizeVerb, bindVerb, weight = 1, ignorable = false } = configuration
  const url = (verb: string) => `${urlPrefix.replace(/\/$/, '')}/${verb}`
  const managed = new Set(configuration.managedResources?.map(({ name }) => name))
  const argumentsOf = (pod: PodView, nodes: readonly NodeInfo[]) =>
    configuration.nodeCacheCapable
      ? { Pod: pod, NodeNames: nodes.map(({ name }) => name) }
      : { Pod: pod, Nodes: { items: nodes.map(({ node }) => node) } }
  return {
    canBind: bindVerb !== undefined,
    canPreempt: Boolean(configuration.preemptVerb),
    isInterestedIn: pod => {
      if (managed.size === 0) return true
      const { containers, initContainers = [] } = pod.spec
      return [...containers, ...initContainers].some(({ resources = {} }) =>
        [...Object.keys(resources.requests ?? {}), ...Object.keys(resources.limits ?? {})].some(name =>
          managed.has(name),
        ),
      )
    },
    async filter(pod, nodes, verdicts) {
      if (filterVerb === undefined) return nodes
      let answer: FilterAnswer
      try {
        answer = lowerKeys(await post(url(filterVerb), argumentsOf(pod, nodes))) as FilterAnswer
        if (answer.error) throw new Error(answer.error)
      } catch (error) {
        if (ignorable) return nodes
        throw error
      }
      for (const [name, reason] of Object.entries(answer.failednodes ?? {}))
        verdicts.set(name, { code: 'Unschedulable', reasons: [reason] })
      for (const [name, reason] of Object.entries(answer.failedandunresolvablenodes ?? {}))
        verdicts.set(name, { code: 'UnschedulableAndUnresolvable', reasons: [reason] })
      const names = new Set(answer.nodenames ?? answer.nodes?.items?.map(({ metadata }) => metadata.name))
      return nodes.filter(({ name }) => names.has(name))
    },
    async prioritize(pod, nodes) {
      if (prioritizeVerb === undefined) return new Map()
      try {
        const answer = await post(url(prioritizeVerb), argumentsOf(pod, nodes))
        const scores = (answer as readonly object[]).map(lowerKeys) as unknown as readonly HostPriority[]
        return new Map(scores.map(({ host, score = 0 }) => [host, score * weight * scoreFactor]))
      } catch {
        return new Map() // scores are optional: the scheduler continues without them
      }
    },
    async preempt(pod, candidates) {
      try {
        const body = { Pod: pod, ...victimsOf(candidates, configuration.nodeCacheCapable) }
        const answer = await post(url(configuration.preemptVerb!), body)
        return readVictims(answer, candidates, configuration)
      } catch (error) {
        if (ignorable) return candidates
        throw error
      }
    },
    async bind({ metadata }, node) {
      const { name, namespace, uid } = metadata
      const body = { PodName: name, PodNamespace: namespace, PodUID: uid, Node: node }
      const answer = lowerKeys(await post(url(bindVerb!), body)) as { error?: string }
      if (answer.error) throw new Error(answer.error)
    },
  }
}

/** By node name; pods by uid if the extender caches nodes. */
function victimsOf(candidates: readonly NodeVictims[], isCacheCapable = false): object {
  const entries = candidates.map(({ node, victims, violations }) => {
    const pods = victims.map(({ pod, uid }) => (isCacheCapable ? { UID: uid } : pod))
    return [node.name, { Pods: pods, NumPDBViolations: violations }]
  })
  const field = isCacheCapable ? 'NodeNameToMetaVictims' : 'NodeNameToVictims'
  return { [field]: Object.fromEntries(entries) }
}

/** Extenders always respond with uids. */
function readVictims(
  answer: unknown,
  candidates: readonly NodeVictims[],
  { urlPrefix, ignorable }: ExtenderConfiguration,
): NodeVictims[] {
  const byNode = lowerKeys(answer).nodenametometavictims ?? {}
  return Object.entries(byNode).flatMap(([name, given]) => {
    const { pods = [], numpdbviolations: violations = 0 } = lowerKeys(given) as unknown as {
      readonly pods?: readonly object[]
      readonly numpdbviolations?: number
    }
    const node = candidates.find(candidate => candidate.node.name === name)?.node
    if (pods.length === 0 && ignorable) return []
    if (!node || pods.length === 0)
      throw new Error(`expected at least one victim pod on node ${JSON.stringify(name)}`)
    const present = new Map([...node.pods()].map(pod => [pod.uid, pod]))
    const victims = pods.map(entry => {
      const uid = String(lowerKeys(entry).uid)
      const victim = present.get(uid)
      if (victim) return victim
      throw new Error(
        `extender: ${urlPrefix} claims to preempt pod (UID: ${uid}) on node: ${name}, but the pod is not found on that node`,
      )
    })
    return { node, victims, violations }
  })
}
