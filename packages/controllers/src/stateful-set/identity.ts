import { StatefulSet } from '@coxswain/api/apps/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import type { PodView } from '@coxswain/kinds'
import type { TemplateView } from '../pods/controller-revisions.ts'
import { podFromTemplate } from '../pods/pod-control.ts'

export type StatefulSetView = DeepReadonly<StatefulSet>
type Volume = NonNullable<PodView['spec']['volumes']>[number]

const podNameLabel = 'statefulset.kubernetes.io/pod-name'
const podIndexLabel = 'apps.kubernetes.io/pod-index'
const revisionLabel = 'controller-revision-hash'

export function replicasOf({ spec }: StatefulSetView): number {
  return spec?.replicas ?? 1
}

export function startOf({ spec }: StatefulSetView): number {
  return spec?.ordinals?.start ?? 0
}

export function podNameOf({ metadata }: StatefulSetView, ordinal: number): string {
  return `${metadata.name}-${ordinal}`
}

/** The ordinal of a pod, from its name; undefined if the name has none. */
export function ordinalOf(
  set: StatefulSetView,
  pod: { readonly metadata: { readonly name: string } },
): number | undefined {
  const parts = /^(.*)-(\d+)$/.exec(pod.metadata.name)
  if (parts?.[1] !== set.metadata.name) return undefined
  const ordinal = Number(parts[2])
  return ordinal <= 0x7fffffff ? ordinal : undefined
}

/** Whether the StatefulSet should have a pod of this ordinal. */
export function isInRange(set: StatefulSetView, ordinal: number): boolean {
  return ordinal >= startOf(set) && ordinal < startOf(set) + replicasOf(set)
}

export function podRevision({ metadata }: PodView): string | undefined {
  return metadata.labels?.[revisionLabel]
}

export function claimNameOf({ metadata }: StatefulSetView, template: string, ordinal: number): string {
  return `${template}-${metadata.name}-${ordinal}`
}

/** The pod of an ordinal, from the template of a revision. */
export function newPod(
  set: StatefulSetView,
  ordinal: number,
  { name: revision, template }: { readonly name: string; readonly template: TemplateView },
): PodView {
  const name = podNameOf(set, ordinal)
  const pod = podFromTemplate({ kind: StatefulSet, object: set }, template, name)
  const { serviceName } = set.spec ?? {}
  return {
    ...pod,
    metadata: { ...pod.metadata, labels: { ...labelsOf(set, pod, ordinal), [revisionLabel]: revision } },
    spec: {
      ...pod.spec,
      volumes: volumesOf(set, pod, ordinal),
      hostname: name,
      ...(serviceName && { subdomain: serviceName }),
    },
  }
}

export function labelsOf(
  set: StatefulSetView,
  pod: PodView,
  ordinal: number,
): Readonly<Record<string, string>> {
  return {
    ...pod.metadata.labels,
    [podNameLabel]: podNameOf(set, ordinal),
    [podIndexLabel]: String(ordinal),
  }
}

/** The pod's volumes; those of the StatefulSet's claims replace others of the same name. */
export function volumesOf(set: StatefulSetView, pod: PodView, ordinal: number): readonly Volume[] {
  const claims = (set.spec?.volumeClaimTemplates ?? []).map(({ metadata }) => metadata?.name ?? '')
  const own = claims.map(name => ({
    name,
    persistentVolumeClaim: { claimName: claimNameOf(set, name, ordinal) },
  }))
  return [...own, ...(pod.spec.volumes ?? []).filter(({ name }) => !claims.includes(name))]
}

export function hasIdentity(set: StatefulSetView, pod: PodView, ordinal: number): boolean {
  const name = podNameOf(set, ordinal)
  return pod.metadata.name === name && pod.metadata.labels?.[podNameLabel] === name
}

export function hasStorage(set: StatefulSetView, pod: PodView, ordinal: number): boolean {
  return (set.spec?.volumeClaimTemplates ?? []).every(({ metadata }) => {
    const claim = metadata?.name ?? ''
    const volume = pod.spec.volumes?.find(({ name }) => name === claim)
    return volume?.persistentVolumeClaim?.claimName === claimNameOf(set, claim, ordinal)
  })
}
