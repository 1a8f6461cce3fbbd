import type { PodTemplateSpec } from '@coxswain/api/core/v1'
import type * as field from '@coxswain/apimachinery/field'
import type { ObjectMeta } from '@coxswain/apimachinery/meta'
import { isDNS1123Label } from '@coxswain/apimachinery/validation'
import { templateWarnings } from '../core/pod/warnings.ts'
import type { Decoded } from '../decoded.ts'

/** A name that becomes part of host names should be one label; `what` it is used in. */
export function nameWarnings({ metadata }: { metadata: Decoded<ObjectMeta> }, what: string): string[] {
  const messages = isDNS1123Label(metadata.name ?? '')
  if (messages.length === 0) return []
  return [
    `metadata.name: this is used in ${what}, which can result in surprising behavior; a DNS label is recommended: [${messages.join(' ')}]`,
  ]
}

interface Workload {
  readonly metadata: Decoded<ObjectMeta>
  readonly spec?: { readonly template?: Decoded<PodTemplateSpec> }
}

/** Warnings about a workload's pods: for new ones, and where something has changed. */
export function workloadWarnings(
  object: Workload,
  old: Workload | undefined,
  path: field.Path,
): Iterable<string> {
  if (old && object.metadata.generation === old.metadata.generation) return []
  return templateWarnings(object.spec?.template ?? {}, path)
}
