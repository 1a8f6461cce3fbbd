import type { NodeInfo } from './node-info.ts'
import type { Verdict } from './plugin.ts'
import type { PodView } from './pod-info.ts'

/** What upstream's `extenders` of a scheduler configuration say. */
export interface ExtenderConfiguration {
  readonly urlPrefix: string
  readonly filterVerb?: string
  readonly prioritizeVerb?: string
  readonly bindVerb?: string
  /** @default 1 */
  readonly weight?: number
  /** Send names instead of nodes. @default false */
  readonly nodeCacheCapable?: boolean
  /** Pods are scheduled without it when it does not answer. @default false */
  readonly ignorable?: boolean
  /** Only pods that ask for one of these. @default all pods */
  readonly managedResources?: readonly { readonly name: string }[]
}

/** Sends `body` as JSON to a URL and gives the answer's JSON. Rejects when there is none. */
export type PostJson = (url: string, body: unknown) => Promise<unknown>

/** Another process that is asked about nodes over HTTP. */
export interface Extender {
  readonly canBind: boolean
  isInterestedIn(pod: PodView): boolean
  /** The nodes that are left; verdicts say why the others are not. Rejects unless it is ignorable. */
  filter(
    pod: PodView,
    nodes: readonly NodeInfo[],
    verdicts: Map<string, Verdict>,
  ): Promise<readonly NodeInfo[]>
  /** Weighted scores by node; on the scale of the plug-ins' sums. */
  prioritize(pod: PodView, nodes: readonly NodeInfo[]): Promise<ReadonlyMap<string, number>>
  bind(pod: PodView, node: string): Promise<void>
}

interface FilterAnswer {
  readonly nodes?: { readonly items?: readonly { readonly metadata: { readonly name: string } }[] }
  readonly nodenames?: readonly string[]
  readonly failedNodes?: Readonly<Record<string, string>>
  readonly failedAndUnresolvableNodes?: Readonly<Record<string, string>>
  readonly error?: string
}

/** Scores of extenders go from 0 to 10, those of plug-ins to 100. */
const scoreFactor = 10

export function createExtender(configuration: ExtenderConfiguration, post: PostJson): Extender {
  const { urlPrefix, filterVerb, prioritizeVerb, bindVerb, weight = 1, ignorable = false } = configuration
  const url = (verb: string) => `${urlPrefix.replace(/\/$/, '')}/${verb}`
  const managed = new Set(configuration.managedResources?.map(({ name }) => name))
  const argumentsOf = (pod: PodView, nodes: readonly NodeInfo[]) =>
    configuration.nodeCacheCapable
      ? { pod, nodenames: nodes.map(({ name }) => name) }
      : { pod, nodes: { items: nodes.map(({ node }) => node) } }
  return {
    canBind: bindVerb !== undefined,
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
        answer = (await post(url(filterVerb), argumentsOf(pod, nodes))) as FilterAnswer
        if (answer.error) throw new Error(answer.error)
      } catch (error) {
        if (ignorable) return nodes
        throw error
      }
      for (const [name, reason] of Object.entries(answer.failedNodes ?? {}))
        verdicts.set(name, { code: 'Unschedulable', reasons: [reason] })
      for (const [name, reason] of Object.entries(answer.failedAndUnresolvableNodes ?? {}))
        verdicts.set(name, { code: 'UnschedulableAndUnresolvable', reasons: [reason] })
      const names = new Set(answer.nodenames ?? answer.nodes?.items?.map(({ metadata }) => metadata.name))
      return nodes.filter(({ name }) => names.has(name))
    },
    async prioritize(pod, nodes) {
      if (prioritizeVerb === undefined) return new Map()
      try {
        const answer = await post(url(prioritizeVerb), argumentsOf(pod, nodes))
        const scores = answer as readonly { readonly host: string; readonly score: number }[]
        return new Map(scores.map(({ host, score }) => [host, score * weight * scoreFactor]))
      } catch {
        return new Map() // scores are advice: the scheduler does without
      }
    },
    async bind({ metadata }, node) {
      const { name, namespace, uid } = metadata
      const body = { podName: name, podNamespace: namespace, podUID: uid, node }
      const answer = (await post(url(bindVerb!), body)) as { error?: string }
      if (answer.error) throw new Error(answer.error)
    },
  }
}
