import type { FieldError } from '@coxswain/apimachinery/field'
import * as field from '@coxswain/apimachinery/field'
import { deepEqual, type JsonObject } from '@coxswain/apimachinery/json'
import { newInvalid } from '@coxswain/apimachinery/status'
import { objectOf, textOf } from '@coxswain/strategies'
import type { Attributes } from '../attributes.ts'
import { type Level, levels, violationsOf } from './checks.ts'

const prefix = 'pod-security.kubernetes.io/'
const modes = ['enforce', 'audit', 'warn']

/** How many existing Pods are checked when a namespace becomes more restrictive. */
const mostPods = 3_000

/** Rejects invalid labels, and warns of existing Pods that violate a more restrictive level. */
export function validateNamespace(attributes: Attributes, object: JsonObject): void {
  const { resource, oldObject } = attributes
  const labels = labelsOf(object)
  const errors = checkLabels(labels)
  const before = oldObject && checkLabels(labelsOf(oldObject))
  const isNews = !before || before.length === 0 || !deepEqual(before, errors)
  if (errors.length > 0 && isNews)
    throw newInvalid({ group: '', kind: resource.info.kind }, textOf(objectOf(object.metadata).name), errors)
  if (oldObject && errors.length === 0) warnOfPods(attributes, labels, labelsOf(oldObject))
}

type Labels = Readonly<Record<string, string>>

const labelsOf = (object: JsonObject): Labels => (objectOf(object.metadata).labels ?? {}) as Labels

function checkLabels(labels: Labels): FieldError[] {
  const errors: FieldError[] = []
  const path = field.Path.of('metadata', 'labels')
  for (const mode of modes) {
    const level = labels[prefix + mode]
    if (level !== undefined && !levels.includes(level as Level))
      errors.push(field.invalid(path.key(prefix + mode), level, `must be one of ${levels.join(', ')}`))
    const version = labels[`${prefix}${mode}-version`]
    if (version !== undefined && version !== 'latest' && !/^v1\.(0|[1-9]\d*)$/.test(version))
      errors.push(field.invalid(path.key(`${prefix}${mode}-version`), version, 'must be "latest" or "v1.x"'))
  }
  return errors
}

function warnOfPods({ server, name, warn }: Attributes, labels: Labels, before: Labels): void {
  const level = (labels[`${prefix}enforce`] ?? 'privileged') as Level
  const version = labels[`${prefix}enforce-version`] ?? 'latest'
  const isSame =
    level === before[`${prefix}enforce`] && version === (before[`${prefix}enforce-version`] ?? 'latest')
  if (level === 'privileged' || isSame || !warn) return
  const { cache } = server.registry.find('', 'v1', 'pods')!.resource
  const byProblem = new Map<string, string[]>()
  for (const stored of cache.list(`${cache.prefix}${name}/`).slice(0, mostPods)) {
    const pod = stored.parse()
    const violations = violationsOf(level, objectOf(pod.metadata), objectOf(pod.spec))
    if (violations.length === 0) continue
    const problem = violations.map(({ reason }) => reason).join(', ')
    byProblem.set(problem, [...(byProblem.get(problem) ?? []), stored.name])
  }
  if (byProblem.size === 0) return
  warn(`existing pods in namespace "${name}" violate the new PodSecurity enforce level "${level}:${version}"`)
  const lines = [...byProblem].map(([problem, pods]) => {
    const [first = '', ...others] = pods.sort()
    const more =
      others.length === 0 ? '' : ` (and ${others.length} other pod${others.length === 1 ? '' : 's'})`
    return `${first}${more}: ${problem}`
  })
  for (const line of lines.sort()) warn(line)
}
