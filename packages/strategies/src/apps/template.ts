import type { ReplicaSetSpec } from '@coxswain/api/apps/v1'
import type { PodTemplateSpec } from '@coxswain/api/core/v1'
import * as field from '@coxswain/apimachinery/field'
import type { LabelSelector } from '@coxswain/apimachinery/meta'
import { labelSelectorAsSelector, Selector } from '@coxswain/apimachinery/selectors'
import { validateLabelSelector } from '@coxswain/apimachinery/validation'
import { validatePodTemplate } from '../core/pod/validation/pod-spec.ts'
import type { Decoded } from '../decoded.ts'
import { type Findings, numberOf, printed, validateNonnegative } from '../shared/reading.ts'

/** The selector of a workload; undefined when it is invalid. An absent one selects nothing. */
export function selectorOf(spec: Decoded<ReplicaSetSpec>): Selector | undefined {
  if (!spec.selector) return Selector.nothing
  try {
    return labelSelectorAsSelector(spec.selector as LabelSelector)
  } catch {
    return undefined
  }
}

const isEmptySelector = (selector: Decoded<LabelSelector>): boolean =>
  Object.keys(selector.matchLabels ?? {}).length + (selector.matchExpressions ?? []).length === 0

/** A selector that must be there and must select something. `kind` is the word errors have for the workload. */
export function* validateSelector(spec: Decoded<ReplicaSetSpec>, kind: string, path: field.Path): Findings {
  const at = path.child('selector')
  if (!spec.selector) {
    yield field.required(at)
    return
  }
  yield* validateLabelSelector(spec.selector as LabelSelector, at)
  if (isEmptySelector(spec.selector))
    yield field.invalid(at, printed(spec.selector), `empty selector is invalid for ${kind}`)
}

/** The selector must match the labels of the template. `path` is the template's. */
export function* validateSelected(
  template: Decoded<PodTemplateSpec>,
  selector: Selector,
  path: field.Path,
): Findings {
  if (selector.isEmpty) return
  const { labels } = template.metadata ?? {}
  if (!selector.matches(labels ?? {})) {
    const message = '`selector` does not match template `labels`'
    yield field.invalid(path.child('metadata', 'labels'), labels ?? null, message)
  }
}

/** The template of Pods that are always restarted. `kind` is the workload's, in errors. */
export function* validateEndless(
  template: Decoded<PodTemplateSpec>,
  kind: string,
  path: field.Path,
): Findings {
  const spec = template.spec ?? {}
  if (spec.restartPolicy !== 'Always')
    yield field.notSupported(path.child('spec', 'restartPolicy'), spec.restartPolicy ?? '', ['Always'])
  if (spec.activeDeadlineSeconds !== undefined) {
    const message = `activeDeadlineSeconds in ${kind} is not Supported`
    yield field.forbidden(path.child('spec', 'activeDeadlineSeconds'), message)
  }
}

/** The template of a replica set or a deployment. */
export function* validateReplicaTemplate(spec: Decoded<ReplicaSetSpec>, path: field.Path): Findings {
  const selector = selectorOf(spec)
  if (!selector) {
    yield field.invalid(path.child('selector'), printed(spec.selector), 'invalid label selector')
    return
  }
  const template = spec.template ?? {}
  const at = path.child('template')
  yield* validateSelected(template, selector, at)
  yield* validatePodTemplate(template, at)
  yield* validateEndless(template, 'ReplicaSet', at)
}

export function* validateNonnegatives<T>(
  object: T,
  members: readonly (keyof T & string)[],
  path: field.Path,
): Findings {
  for (const member of members) yield* validateNonnegative(object[member], path.child(member))
}

export function* validateImmutable(value: unknown, old: unknown, path: field.Path): Findings {
  const shown = printed(value ?? null)
  if (shown.text !== printed(old ?? null).text) yield field.invalid(path, shown, 'field is immutable')
}

/** Counts in a status of which none is above `replicas`, for replica sets and replication controllers. */
export const replicaParts = ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'] as const

type ReplicaCount = 'replicas' | 'readyReplicas' | 'availableReplicas'

/** Counts in a status: none negative, none above `replicas`, no more available than ready. */
export function* validateReplicaCounts<T extends { [P in ReplicaCount]?: number }>(
  status: T,
  members: readonly (keyof T & string)[],
  parts: readonly (keyof T & string)[],
  readyName: string,
): Findings {
  const path = field.Path.of('status')
  yield* validateNonnegatives(status, members, path)
  for (const part of parts) {
    if (numberOf(status[part]) > numberOf(status.replicas))
      yield field.invalid(path.child(part), status[part], 'cannot be greater than status.replicas')
  }
  if (numberOf(status.availableReplicas) > numberOf(status.readyReplicas)) {
    const message = `cannot be greater than ${readyName}`
    yield field.invalid(path.child('availableReplicas'), status.availableReplicas, message)
  }
}

interface WithCollisions {
  readonly collisionCount?: number
}

/** The collision count cannot decrease. */
export function* validateCollisions(status: WithCollisions, old: WithCollisions): Findings {
  if (old.collisionCount === undefined) return
  const count = numberOf(status.collisionCount)
  if (status.collisionCount === undefined || count < numberOf(old.collisionCount))
    yield field.invalid(field.Path.of('status', 'collisionCount'), count, 'cannot be decremented')
}
