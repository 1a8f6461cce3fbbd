import type { ReplicaSet } from '@coxswain/api/apps/v1'
import type { PodTemplateSpec, ReplicationController } from '@coxswain/api/core/v1'
import type { LabelSelector } from '@coxswain/apimachinery/meta'
import { labelSelectorAsSelector } from '@coxswain/apimachinery/selectors'
import type { Decoded } from '../decoded.ts'
import type { TableCells } from '../strategy.ts'
import { ageCell, nameCell } from './cells.ts'
import { numberOf } from './reading.ts'

/** The names and the images of a template's containers. */
export function containerCells(template: Decoded<PodTemplateSpec> | null | undefined): {
  Containers: string
  Images: string
} {
  const containers = template?.spec?.containers ?? []
  return {
    Containers: containers.map(({ name }) => name ?? '').join(','),
    Images: containers.map(({ image }) => image ?? '').join(','),
  }
}

/** How many Pods there are of those that there should be, and what is in them. */
export function replicaCells(
  object: Decoded<ReplicaSet> | Decoded<ReplicationController>,
  now: number,
): TableCells {
  const spec = object.spec ?? {}
  const status = object.status ?? {}
  return {
    Name: nameCell(object),
    Desired: numberOf(spec.replicas),
    Current: numberOf(status.replicas),
    Ready: numberOf(status.readyReplicas),
    Age: ageCell(object, now),
    ...containerCells(spec.template),
  }
}

/** Labels as `kubectl` prints them. */
export function labelsCell(labels: Readonly<Record<string, string>> | null | undefined): string {
  const pairs = Object.entries(labels ?? {})
  if (pairs.length === 0) return '<none>'
  return pairs
    .map(([key, value]) => `${key}=${value}`)
    .sort()
    .join(',')
}

export function selectorCell(selector: Decoded<LabelSelector> | null | undefined): string {
  if (!selector) return '<none>'
  try {
    return labelSelectorAsSelector(selector as LabelSelector).toString() || '<none>'
  } catch {
    return '<error>'
  }
}
