import type { Namespace } from '@coxswain/api/core/v1'
import type { DeviceClaim } from '@coxswain/api/resource/v1'
import * as field from '@coxswain/apimachinery/field'
import { deepEqual, isObject } from '@coxswain/apimachinery/json'
import type { ObjectMeta } from '@coxswain/apimachinery/meta'
import { fieldImmutableMessage } from '@coxswain/apimachinery/validation'
import type { Decoded } from '../decoded.ts'
import type { GoType } from '../gen/go-types.ts'
import { goValue } from '../shared/go-value.ts'
import { type Findings, printed } from '../shared/reading.ts'
import type { StrategyContext } from '../strategy.ts'

/** The spec is immutable; an empty list equals an absent one. */
export function* validateUnchanged(type: GoType, spec: object = {}, old: object = {}): Findings {
  const shown = goValue(type, spec)
  if (!deepEqual(withoutEmptyLists(shown), withoutEmptyLists(goValue(type, old))))
    yield field.invalid(field.Path.of('spec'), printed(shown), fieldImmutableMessage)
}

function withoutEmptyLists(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? null : value.map(withoutEmptyLists)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withoutEmptyLists(member)]))
}

interface WithMetadata {
  readonly metadata: Decoded<ObjectMeta>
}

const adminLabel = 'resource.kubernetes.io/admin-access'

/** Admin access to devices that are in use requires a label on the namespace. */
export function* validateAdminAccess(
  object: WithMetadata,
  devices: Decoded<DeviceClaim>,
  context: StrategyContext,
): Findings {
  const index = (devices.requests ?? []).findIndex(({ exactly }) => exactly?.adminAccess === true)
  if (index < 0) return
  const path = field.Path.of('spec', 'devices', 'requests').index(index).child('adminAccess')
  yield* requireMarkedNamespace(object, path, context)
}

export function* requireMarkedNamespace(
  object: WithMetadata,
  path: field.Path,
  { objects }: StrategyContext,
): Findings {
  const { namespace } = object.metadata
  const found = objects.resource('/core/namespaces/').get(`/core/namespaces/${namespace ?? ''}`)
  const labels = (found?.parse() as Decoded<Namespace> | undefined)?.metadata.labels
  if (labels?.[adminLabel] !== 'true')
    yield field.forbidden(
      path,
      `admin access to devices requires the \`${adminLabel}: true\` label on the containing namespace`,
    )
}
