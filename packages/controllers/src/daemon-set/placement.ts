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

export type DaemonSetView = DeepReadonly<DaemonSet>
type TolerationView = DeepReadonly<Toleration>

const prefix = 'node.kubernetes.io'

/** The tolerations of every daemon pod. */
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

/** The tolerations of a DaemonSet's pods: those of the template, and those of every daemon pod. */
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
  /** A pod should be created. */
  readonly shouldRun: boolean
  /** An existing pod may keep running. */
  readonly mayStay: boolean
}

const nowhere: Placement = { shouldRun: false, mayStay: false }

/** Whether a DaemonSet's pod should run on a node. */
export function placementOn(set: DaemonSetView, node: NodeView): Placement {
  const { spec } = set.spec!.template
  if (!spec || (spec.nodeName && spec.nodeName !== node.metadata.name)) return nowhere
  if (!matchesRequiredNodeAffinity(spec, node)) return nowhere
  const tolerations = tolerationsOf(spec)
  return {
    shouldRun: !findTaintAgainstScheduling(node, tolerations),
    mayStay: !findUntoleratedTaint(node.spec?.taints, tolerations, ['NoExecute']),
  }
}

/** The node that a daemon pod runs on or is created for. */
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

/** The template generation, for deprecated clients; undefined without the annotation. */
function generationOf({ metadata }: DaemonSetView): string | undefined {
  return parseInt64(metadata.annotations?.[generationAnnotation] ?? '')?.toString()
}

/** The template of the pod for one node. Node affinity makes the scheduler bind it there. */
export function templateFor(set: DaemonSetView, node: string, hash: string): TemplateView {
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

/** Whether a pod has the DaemonSet's current template. */
export function isUpdated(set: DaemonSetView, { metadata }: PodView, hash: string): boolean {
  const generation = generationOf(set)
  return (
    metadata.labels?.[hashLabel] === hash ||
    (generation !== undefined && metadata.labels?.[generationLabel] === generation)
  )
}
