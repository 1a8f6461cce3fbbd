import { ReplicaSet, StatefulSet } from '@coxswain/api/apps/v1'
import { ReplicationController, Service, type TopologySpreadConstraint } from '@coxswain/api/core/v1'
import { type DeepReadonly, getControllerOf, type LabelSelector } from '@coxswain/apimachinery/meta'
import {
  createRequirement,
  labelSelectorAsSelector,
  Selector,
  selectorFromLabels,
} from '@coxswain/apimachinery/selectors'
import {
  findTaintAgainstScheduling,
  labelOf,
  matchesRequiredNodeAffinity,
  type NodeView,
  type PodView,
} from '@coxswain/kinds'
import { maxOf, minOf } from '@coxswain/kit'
import type { NodeInfo } from '../node-info.ts'
import {
  type ClusterEvent,
  type Cycle,
  type CycleData,
  highestScore,
  isChangeOf,
  type SchedulerHandle,
  type SchedulerPlugin,
  skip,
  unresolvable,
  unschedulable,
} from '../plugin.ts'
import type { PodInfo } from '../pod-info.ts'

type ConstraintView = DeepReadonly<TopologySpreadConstraint>

export interface TopologySpreadArgs {
  /** For pods without constraints. @default hosts (skew 3) and zones (skew 5), preferred only */
  readonly defaultConstraints?: readonly ConstraintView[]
  /** `List` uses only the constraints above. @default `System` if there are none */
  readonly defaultingType?: 'System' | 'List'
}

const hostname = 'kubernetes.io/hostname'
const zone = 'topology.kubernetes.io/zone'
const systemDefaults: readonly ConstraintView[] = [
  { topologyKey: hostname, maxSkew: 3, whenUnsatisfiable: 'ScheduleAnyway' },
  { topologyKey: zone, maxSkew: 5, whenUnsatisfiable: 'ScheduleAnyway' },
]

interface Constraint {
  readonly topologyKey: string
  readonly maxSkew: number
  readonly minDomains: number
  readonly selector: Selector
  readonly honorsAffinity: boolean
  readonly honorsTaints: boolean
}

const name = 'PodTopologySpread'
const scoreName = `${name}/score`

/** The number of matching pods in each domain. */
class Domains implements CycleData {
  readonly pod: PodView
  readonly constraints: readonly Constraint[]
  readonly counts: readonly Map<string, number>[]
  #minima: (number | undefined)[]

  constructor(pod: PodView, constraints: readonly Constraint[], counts: readonly Map<string, number>[]) {
    this.pod = pod
    this.constraints = constraints
    this.counts = counts
    this.#minima = []
  }

  /** The minimum of all domains; 0 if there are fewer domains than `minDomains`. */
  least(index: number): number {
    const counts = this.counts[index]!
    if (counts.size < this.constraints[index]!.minDomains) return 0
    this.#minima[index] ??= minOf(counts.values())
    return this.#minima[index]!
  }

  clone(): Domains {
    return new Domains(
      this.pod,
      this.constraints,
      this.counts.map(counts => new Map(counts)),
    )
  }

  addPod(other: PodInfo, node: NodeInfo): void {
    this.#update(other, node, 1)
  }

  removePod(other: PodInfo, node: NodeInfo): void {
    this.#update(other, node, -1)
  }

  #update({ pod }: PodInfo, node: NodeInfo, delta: 1 | -1): void {
    if (pod.metadata.namespace !== this.pod.metadata.namespace || !hasAllKeys(node, this.constraints)) return
    for (const [index, constraint] of this.constraints.entries()) {
      if (!constraint.selector.matches(pod.metadata.labels)) continue
      if (!isIncluded(constraint, this.pod, node)) continue
      const value = labelOf(node.labels, constraint.topologyKey)!
      this.counts[index]!.set(value, (this.counts[index]!.get(value) ?? 0) + delta)
      this.#minima[index] = undefined
    }
  }
}

class Spread {
  readonly constraints: readonly Constraint[]
  readonly ignored = new Set<string>()
  readonly counts: readonly Map<string, number>[]
  weights: readonly number[] = []

  constructor(constraints: readonly Constraint[]) {
    this.constraints = constraints
    this.counts = constraints.map(() => new Map())
  }
}

/** Spreads matching pods evenly over zones, hosts or other topology domains. */
export function createTopologySpread(args: TopologySpreadArgs = {}): SchedulerPlugin {
  const { defaultingType, defaultConstraints = defaultingType === 'List' ? [] : undefined } = args
  const defaults = defaultConstraints ?? systemDefaults
  const constraintsOf = (
    pod: PodView,
    action: ConstraintView['whenUnsatisfiable'],
    handle: SchedulerHandle,
  ) => {
    const own = pod.spec.topologySpreadConstraints ?? []
    if (own.length > 0) return compile(own, pod, action)
    const compiled = compile(defaults, pod, action)
    if (compiled.length === 0) return compiled
    const selector = defaultSelector(pod, handle)
    return selector.isEmpty ? [] : compiled.map(constraint => ({ ...constraint, selector }))
  }
  return {
    name,
    preFilter: ({ pod: { pod }, nodes, data, handle }) => {
      const constraints = constraintsOf(pod, 'DoNotSchedule', handle)
      if (constraints.length === 0) return skip
      data.set(name, new Domains(pod, constraints, countDomains(pod, constraints, nodes)))
      return undefined
    },
    filter: ({ data, pod: { pod } }, node) => {
      const domains = data.get(name) as Domains
      for (const [index, { topologyKey, maxSkew, selector }] of domains.constraints.entries()) {
        const value = labelOf(node.labels, topologyKey)
        if (value === undefined)
          return unresolvable("node(s) didn't match pod topology spread constraints (missing required label)")
        const self = selector.matches(pod.metadata.labels) ? 1 : 0
        const skew = (domains.counts[index]!.get(value) ?? 0) + self - domains.least(index)
        if (skew > maxSkew) return unschedulable("node(s) didn't match pod topology spread constraints")
      }
      return undefined
    },
    preScore: (cycle, feasible) => {
      const { pod } = cycle.pod
      const constraints = constraintsOf(pod, 'ScheduleAnyway', cycle.handle)
      if (constraints.length === 0) return skip
      const needsAllKeys =
        Boolean(pod.spec.topologySpreadConstraints?.length) || defaultConstraints !== undefined
      cycle.data.set(scoreName, measureSpread(cycle, feasible, constraints, needsAllKeys))
      return undefined
    },
    score: ({ data, pod: { pod } }, node) => {
      const spread = data.get(scoreName) as Spread
      if (spread.ignored.has(node.name)) return 0
      let sum = 0
      for (const [index, constraint] of spread.constraints.entries()) {
        const value = labelOf(node.labels, constraint.topologyKey)
        if (value === undefined) continue
        const count =
          constraint.topologyKey === hostname
            ? countMatching(node, constraint.selector, pod)
            : (spread.counts[index]!.get(value) ?? 0)
        sum += count * spread.weights[index]! + (constraint.maxSkew - 1)
      }
      return Math.round(sum)
    },
    normalize: ({ data }, scores) => {
      const { ignored } = data.get(scoreName) as Spread
      const rated = scores.filter(({ node }) => !ignored.has(node.name)).map(({ score }) => score)
      const highest = Math.max(0, maxOf(rated))
      const lowest = minOf(rated)
      for (const entry of scores) {
        if (ignored.has(entry.node.name)) entry.score = 0
        else if (highest === 0) entry.score = highestScore
        else entry.score = Math.trunc((highestScore * (highest + lowest - entry.score)) / highest)
      }
    },
    wakesOn: (event, pod, handle) => {
      const constraints = constraintsOf(pod, 'DoNotSchedule', handle)
      if (isChangeOf(event, pod, 'tolerations') && constraints.some(({ honorsTaints }) => honorsTaints))
        return true
      const isOwn = isChangeOf(event, pod, 'labels')
      if (isOwn || event.resource === 'Pod') return isHelpedByPod(constraints, pod, event, isOwn)
      return event.resource === 'Node' && isHelpedByNode(constraints, event)
    },
  }
}

/** Whether a matching pod was added or removed, or started or stopped to match. */
function isHelpedByPod(
  constraints: readonly Constraint[],
  { metadata }: PodView,
  { old, object }: ClusterEvent,
  isOwn: boolean,
): boolean {
  const [before, now] = [old as PodView | undefined, object as PodView | undefined]
  if (!isOwn && (now ?? before)?.metadata.namespace !== metadata.namespace) return false
  if (before && now)
    return constraints.some(
      ({ selector }) => selector.matches(before.metadata.labels) !== selector.matches(now.metadata.labels),
    )
  return constraints.every(({ selector }) => selector.matches((now ?? before)?.metadata.labels))
}

/** Whether a domain was added or removed, or a node changed its domain or taints. */
function isHelpedByNode(constraints: readonly Constraint[], { old, object, changes }: ClusterEvent): boolean {
  const labelsIn = (node: unknown) => (node as NodeView).metadata.labels ?? {}
  const isCounted = (node: unknown) =>
    constraints.every(({ topologyKey }) => labelOf(labelsIn(node), topologyKey) !== undefined)
  if (old === undefined || object === undefined) return isCounted(old ?? object)
  if (!changes?.has('labels') && !changes?.has('taints')) return false
  if (isCounted(old) !== isCounted(object)) return true
  if (!isCounted(object)) return false
  return (
    changes.has('taints') ||
    constraints.some(
      ({ topologyKey }) => labelOf(labelsIn(old), topologyKey) !== labelOf(labelsIn(object), topologyKey),
    )
  )
}

function compile(
  constraints: readonly ConstraintView[],
  pod: PodView,
  action: ConstraintView['whenUnsatisfiable'],
): Constraint[] {
  return constraints
    .filter(({ whenUnsatisfiable }) => whenUnsatisfiable === action)
    .map(constraint => ({
      topologyKey: constraint.topologyKey,
      maxSkew: constraint.maxSkew,
      minDomains: constraint.minDomains ?? 1,
      selector: selectorOf(constraint, pod),
      honorsAffinity: constraint.nodeAffinityPolicy !== 'Ignore',
      honorsTaints: constraint.nodeTaintsPolicy === 'Honor',
    }))
}

function selectorOf({ labelSelector, matchLabelKeys = [] }: ConstraintView, pod: PodView): Selector {
  const selector = labelSelectorAsSelector(labelSelector as LabelSelector | undefined)
  const labels = pod.metadata.labels ?? {}
  const more = matchLabelKeys.flatMap(key => {
    const value = labelOf(labels, key)
    return value === undefined ? [] : [createRequirement(key, '=', [value])]
  })
  return selector.isNothing || more.length === 0 ? selector : selector.add(...more)
}

function hasAllKeys({ labels }: NodeInfo, constraints: readonly Constraint[]): boolean {
  return constraints.every(({ topologyKey }) => labelOf(labels, topologyKey) !== undefined)
}

function isIncluded({ honorsAffinity, honorsTaints }: Constraint, pod: PodView, { node }: NodeInfo): boolean {
  if (honorsAffinity && !matchesRequiredNodeAffinity(pod.spec, node)) return false
  return !honorsTaints || !findTaintAgainstScheduling(node, pod.spec.tolerations)
}

function countMatching(node: NodeInfo, selector: Selector, { metadata }: PodView): number {
  if (selector.isEmpty) return 0
  let count = 0
  for (const { pod } of node.pods()) {
    if (pod.metadata.deletionTimestamp || pod.metadata.namespace !== metadata.namespace) continue
    if (selector.matches(pod.metadata.labels)) count++
  }
  return count
}

function countDomains(
  pod: PodView,
  constraints: readonly Constraint[],
  nodes: readonly NodeInfo[],
): Map<string, number>[] {
  const counts = constraints.map(() => new Map<string, number>())
  for (const node of nodes) {
    if (!hasAllKeys(node, constraints)) continue
    for (const [index, constraint] of constraints.entries()) {
      if (!isIncluded(constraint, pod, node)) continue
      const value = labelOf(node.labels, constraint.topologyKey)!
      const count = countMatching(node, constraint.selector, pod)
      counts[index]!.set(value, (counts[index]!.get(value) ?? 0) + count)
    }
  }
  return counts
}

function measureSpread(
  { pod: { pod }, nodes }: Cycle,
  feasible: readonly NodeInfo[],
  constraints: readonly Constraint[],
  needsAllKeys: boolean,
): Spread {
  const spread = new Spread(constraints)
  for (const node of feasible) {
    if (needsAllKeys && !hasAllKeys(node, constraints)) {
      spread.ignored.add(node.name)
      continue
    }
    for (const [index, { topologyKey }] of constraints.entries())
      if (topologyKey !== hostname) spread.counts[index]!.set(labelOf(node.labels, topologyKey) ?? '', 0)
  }
  spread.weights = constraints.map(({ topologyKey }, index) => {
    const size = topologyKey === hostname ? feasible.length - spread.ignored.size : spread.counts[index]!.size
    return Math.log(size + 2)
  })
  for (const node of nodes) {
    if (needsAllKeys && !hasAllKeys(node, constraints)) continue
    for (const [index, constraint] of constraints.entries()) {
      const value = labelOf(node.labels, constraint.topologyKey) ?? ''
      const count = spread.counts[index]!.get(value)
      if (count === undefined || !isIncluded(constraint, pod, node)) continue
      spread.counts[index]!.set(value, count + countMatching(node, constraint.selector, pod))
    }
  }
  return spread
}

/** The default selector of a pod: the selectors of its services and its owner. */
function defaultSelector(pod: PodView, handle: SchedulerHandle): Selector {
  const { namespace = '', labels = {} } = pod.metadata
  const merged: Record<string, string> = {}
  for (const { spec } of handle.list(Service, namespace)) {
    const selected = spec?.selector
    if (selected && Object.keys(selected).length > 0 && selectorFromLabels(selected).matches(labels))
      Object.assign(merged, selected)
  }
  let selector = Object.keys(merged).length > 0 ? selectorFromLabels(merged) : Selector.everything
  const owner = getControllerOf(pod)
  if (!owner) return selector
  const key = { namespace, name: owner.name }
  if (owner.kind === 'ReplicationController') {
    const found = handle.get(ReplicationController, key)?.spec?.selector
    if (found) selector = selector.add(...selectorFromLabels(found).requirements)
  } else if (owner.kind === 'ReplicaSet' || owner.kind === 'StatefulSet') {
    const found = handle.get(owner.kind === 'ReplicaSet' ? ReplicaSet : StatefulSet, key)?.spec?.selector
    if (found) selector = selector.add(...labelSelectorAsSelector(found as LabelSelector).requirements)
  }
  return selector
}
