import type { DefinedVersion, KindOf } from '@coxswain/apimachinery/kinds'
import { definedKindOf } from '@coxswain/apimachinery/kinds'
import type { ApiObject } from '@coxswain/apimachinery/meta'
import type { ResourceDefinition, ResourceOptions } from './resource.ts'

/**
 * Defines a resource of an own API server: the version of a kind of `defineKind` that its rules are written over (the hub), and how it
 * is served. All versions of the kind are. Throws an Error for options that do not fit together.
 */
export function defineResource<H extends DefinedVersion>(
  hub: H,
  options: ResourceOptions<KindOf<H>> = {},
): ResourceDefinition {
  const kind = definedKindOf(hub)
  if (!kind) throw new Error(`${hub.kind} of ${hub.group} is not a kind of defineKind`)
  const { storage, virtual, rules, subresources } = options
  if (storage && virtual) throw new Error(`${hub.kind} cannot be virtual and have a storage`)
  if (virtual && (rules?.prepare || rules?.validate || subresources))
    throw new Error(`${hub.kind} is virtual: it is only read, and has no subresources and rules for writes`)
  return { kind, hub, options: options as unknown as ResourceOptions<ApiObject> }
}
