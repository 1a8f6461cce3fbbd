import { createDefaultPlugins, type Evict, type Profile, type SchedulerPlugin } from '@coxswain/scheduler'

/** By plug-in and node: the scores, weighed, when nodes were last compared for a pod. */
export type Scores = Readonly<Record<string, Readonly<Record<string, number>>>>

/** Writes down, by the names of pods, what our plug-ins say. */
export class ScoreKeeper {
  readonly #byPod = new Map<string, Record<string, Record<string, number>>>()

  /** Of one that nodes were compared for. */
  of(pod: string): Scores | undefined {
    const found = this.#byPod.get(pod)
    return found && tidy(found)
  }

  readonly profiles = (evict: Evict): readonly Profile[] => [
    {
      schedulerName: 'default-scheduler',
      plugins: createDefaultPlugins(evict).map(({ plugin, weight = 1 }) => ({
        plugin: this.#watch(plugin, weight),
        weight,
      })),
    },
  ]

  #watch(plugin: SchedulerPlugin, weight: number): SchedulerPlugin {
    if (!plugin.score) return plugin
    return {
      ...plugin,
      normalize: (cycle, scores) => {
        plugin.normalize?.(cycle, scores)
        const { name } = cycle.pod.pod.metadata
        const ofPod = this.#byPod.get(name) ?? {}
        ofPod[plugin.name] = Object.fromEntries(scores.map(({ node, score }) => [node.name, score * weight]))
        this.#byPod.set(name, ofPod)
      },
    }
  }
}

const line = /"Plugin scored node for pod" pod="[^/]*\/([^"]*)" plugin="([^"]*)" node="([^"]*)" score=(\d+)/

/** What the real one has logged of a pod (`--vmodule=schedule_one=10`). */
export function readScores(log: Iterable<string>, pod: string): Scores | undefined {
  const found: Record<string, Record<string, number>> = {}
  for (const text of log) {
    const [, name, plugin, node, score] = line.exec(text) ?? []
    if (name !== pod) continue
    found[plugin!] ??= {}
    found[plugin!]![node!] = Number(score)
  }
  return Object.keys(found).length === 0 ? undefined : tidy(found)
}

/** A plug-in that finds all nodes alike need not be asked. */
function tidy(scores: Record<string, Record<string, number>>): Scores {
  const entries = Object.entries(scores).filter(([, byNode]) => new Set(Object.values(byNode)).size > 1)
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** The nodes with the highest score. */
export function bestNodes(scores: Scores, nodes: readonly string[]): string[] {
  const total = (node: string) =>
    Object.values(scores).reduce((sum, byNode) => sum + (byNode[node] ?? Number.NEGATIVE_INFINITY), 0)
  const highest = Math.max(...nodes.map(total))
  return nodes.filter(node => total(node) === highest)
}
