import { StatefulSet } from '@coxswain/api/apps/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import type { PodView } from '@coxswain/kinds'
import type { TemplateView } from '../pods/controller-revisions.ts'
import { podFromTemplate } from '../pods/pod-control.ts'

export type SetView = DeepReadonly<StatefulSet>
type Volume = NonNullable<PodView['spec']['volumes']>[number]

const podNameLabel = 'statefulset.kubernetes.io/pod-name'
const podIndexLabel = 'apps.kubernetes.io/pod-index'
const revisionLabel = 'controller-revision-hash'

export function replicasOf({ spec }: SetView): number {
  return spec?.replicas ?? 1
}

export function startOf({ spec }: SetView): number {
  return spec?.ordinals?.start ?? 0
}

export function podNameOf({ metadata }: SetView, ordinal: number): string {
  return `${metadata.name}-${ordinal}`
}

/** The place of a pod in its set, by its name; undefined when it can have none. */
export function ordinalOf(
  set: SetView,
  pod: { readonly metadata: { readonly name: string } },
): number | undefined {
  const parts = /^(.*)-(\d+)$/.exec(pod.metadata.name)
  if (parts?.[1] !== set.metadata.name) return undefined
  const ordinal = Number(parts[2])
  return ordinal <= 0x7fffffff ? ordinal : undefined
}

/** Whether the set is to have a pod of this ordinal. */
export function isInRange(set: SetView, ordinal: number): boolean {
  return ordinal >= startOf(set) && ordinal < startOf(set) + replicasOf(set)
}

export function podRevision({ metadata }: PodView): string | undefined {
  return metadata.labels?.[revisionLabel]
}

export function claimNameOf({ metadata }: SetView, template: string, ordinal: number): string {
  return `${template}-${metadata.name}-${ordinal}`
}

/** The pod of an ordinal, as a revision's template describes it. */
export function newPod(
  set: SetView,
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

export function labelsOf(set: SetView, pod: PodView, ordinal: number): Readonly<Record<string, string>> {
  return {
    ...pod.metadata.labels,
    [podNameLabel]: podNameOf(set, ordinal),
    [podIndexLabel]: String(ordinal),
  }
}

/** The pod's volumes with those of the set's claims in place of others that have their names. */
export function volumesOf(set: SetView, pod: PodView, ordinal: number): readonly Volume[] {
  const claims = (set.spec?.volumeClaimTemplates ?? []).map(({ metadata }) => metadata?.name ?? '')
  const own = claims.map(name => ({
    name,
    persistentVolumeClaim: { claimName: claimNameOf(set, name, ordinal) },
  }))
  return [...own, ...(pod.spec.volumes ?? []).filter(({ name }) => !claims.includes(name))]
}

export function hasIdentity(set: SetView, pod: PodView, ordinal: number): boolean {
  const name = podNameOf(set, ordinal)
  return pod.metadata.name === name && pod.metadata.labels?.[podNameLabel] === name
}

export function hasStorage(set: SetView, pod: PodView, ordinal: number): boolean {
  return (set.spec?.volumeClaimTemplates ?? []).every(({ metadata }) => {
    const claim = metadata?.name ?? ''
    const volume = pod.spec.volumes?.find(({ name }) => name === claim)
    return volume?.persistentVolumeClaim?.claimName === claimNameOf(set, claim, ordinal)
  })
}
