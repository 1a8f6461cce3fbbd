import type { DaemonSet } from '@coxswain/api/apps/v1'
import type { PodSpec, Toleration } from '@coxswain/api/core/v1'
import { parseInt64 } from '@coxswain/apimachinery/go'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import {
  findTaintAgainstScheduling,
  findUntoleratedTaint,
  matchesRequiredNodeAffinity,
  type NodeView,
  type PodView,
} from '@coxswain/kinds'
import type { TemplateView } from '../pods/controller-revisions.ts'

export type SetView = DeepReadonly<DaemonSet>
type TolerationView = DeepReadonly<Toleration>

const prefix = 'node.kubernetes.io'

/** What no daemon lets itself be kept away or driven out by. */
const tolerated: readonly TolerationView[] = [
  { key: `${prefix}/not-ready`, operator: 'Exists', effect: 'NoExecute' },
  { key: `${prefix}/unreachable`, operator: 'Exists', effect: 'NoExecute' },
  { key: `${prefix}/disk-pressure`, operator: 'Exists', effect: 'NoSchedule' },
  { key: `${prefix}/memory-pressure`, operator: 'Exists', effect: 'NoSchedule' },
  { key: `${prefix}/pid-pressure`, operator: 'Exists', effect: 'NoSchedule' },
  { key: `${prefix}/unschedulable`, operator: 'Exists', effect: 'NoSchedule' },
]
const toleratedOnHostNetwork: TolerationView = {
  key: `${prefix}/network-unavailable`,
  operator: 'Exists',
  effect: 'NoSchedule',
}

/** The tolerations of a daemon's pods: the template's, and those every daemon has. */
export function tolerationsOf({ tolerations = [], hostNetwork }: DeepReadonly<PodSpec>): TolerationView[] {
  const result = [...tolerations]
  for (const own of hostNetwork ? [...tolerated, toleratedOnHostNetwork] : tolerated) {
    const index = result.findIndex(
      ({ key, operator, effect, value }) =>
        key === own.key && operator === own.operator && effect === own.effect && !value,
    )
    if (index < 0) result.push(own)
    else result[index] = own
  }
  return result
}

export interface Placement {
  /** A pod is to be there. */
  readonly shouldRun: boolean
  /** One that is there may stay. */
  readonly mayStay: boolean
}

const nowhere: Placement = { shouldRun: false, mayStay: false }

/** What a daemon has to do with a node. */
export function placementOn(set: SetView, node: NodeView): Placement {
  const { spec } = set.spec!.template
  if (!spec || (spec.nodeName && spec.nodeName !== node.metadata.name)) return nowhere
  if (!matchesRequiredNodeAffinity(spec, node)) return nowhere
  const tolerations = tolerationsOf(spec)
  return {
    shouldRun: !findTaintAgainstScheduling(node, tolerations),
    mayStay: !findUntoleratedTaint(node.spec?.taints, tolerations, ['NoExecute']),
  }
}

/** The node a daemon's pod is on, or is meant for. */
export function targetNodeOf({ spec }: PodView): string | undefined {
  if (spec.nodeName) return spec.nodeName
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  for (const { matchFields = [] } of required?.nodeSelectorTerms ?? [])
    for (const { key, operator, values = [] } of matchFields)
      if (key === 'metadata.name' && operator === 'In') return values.length === 1 ? values[0] : undefined
  return undefined
}

export const hashLabel = 'controller-revision-hash'
const generationLabel = 'pod-template-generation'
const generationAnnotation = 'deprecated.daemonset.template.generation'

/** How often the template has changed, as old clients counted; undefined when nobody says. */
function generationOf({ metadata }: SetView): string | undefined {
  return parseInt64(metadata.annotations?.[generationAnnotation] ?? '')?.toString()
}

/** The template of the pod for one node. The scheduler binds it: it can go nowhere else. */
export function templateFor(set: SetView, node: string, hash: string): TemplateView {
  const { metadata, spec } = set.spec!.template
  const generation = generationOf(set)
  const nodeSelectorTerms = [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] }]
  const template = {
    metadata: {
      ...metadata,
      labels: {
        ...metadata?.labels,
        ...(generation !== undefined && { [generationLabel]: generation }),
        [hashLabel]: hash,
      },
    },
    spec: {
      ...spec,
      tolerations: tolerationsOf(spec!),
      affinity: {
        ...spec?.affinity,
        nodeAffinity: {
          ...spec?.affinity?.nodeAffinity,
          requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms },
        },
      },
    },
  }
  return template as unknown as TemplateView
}

/** Whether a pod has the set's template as it is now. */
export function isUpdated(set: SetView, { metadata }: PodView, hash: string): boolean {
  const generation = generationOf(set)
  return (
    metadata.labels?.[hashLabel] === hash ||
    (generation !== undefined && metadata.labels?.[generationLabel] === generation)
  )
}
