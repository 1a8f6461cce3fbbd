import type { JsonObject } from '@coxswain/apimachinery/json'
import type { GroupVersionKind } from '@coxswain/apimachinery/meta'
import type { Endpoint } from '../registry/registry.ts'
import { apiVersionOf } from '../registry/served-resource.ts'
import type { ResourceContext } from '../request/context.ts'
import { createAttributes, writeOptionsObject } from './create-attributes.ts'

interface Part {
  /** What the endpoint takes: an Eviction, a Binding, a TokenRequest. */
  readonly kind: GroupVersionKind
  /** Plug-ins may change it. */
  readonly object: JsonObject
  readonly dryRun: boolean
  /** @default the one of the path */
  readonly name?: string
}

/** Asks admission about something that is created below an object (`pods/eviction`) and not stored itself. */
export async function admitPart(context: ResourceContext, endpoint: Endpoint, part: Part): Promise<void> {
  // A body need not say what it is: the path does.
  part.object.kind ??= part.kind.kind
  part.object.apiVersion ??= apiVersionOf(part.kind.group, part.kind.version)
  const attributes = createAttributes(context, endpoint, {
    ...part,
    operation: 'CREATE',
    oldObject: undefined,
    options: writeOptionsObject(context, 'CreateOptions'),
  })
  await context.state.admission.mutate(attributes)
  await context.state.admission.validate(attributes)
}

/**
 * Asks admission about a connection (`pods/exec`, `services/proxy`). `object` is what was asked for (PodExecOptions);
 * plug-ins may change it.
 */
export async function admitConnect(
  context: ResourceContext,
  endpoint: Endpoint,
  { kind, object }: Pick<Part, 'kind' | 'object'>,
): Promise<void> {
  const attributes = createAttributes(context, endpoint, {
    operation: 'CONNECT',
    kind,
    object,
    oldObject: undefined,
    dryRun: false,
  })
  await context.state.admission.mutate(attributes)
  await context.state.admission.validate(attributes)
}
