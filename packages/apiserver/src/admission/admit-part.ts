import type { GroupVersionKind, JsonObject } from '@coxswain/apimachinery'
import type { Endpoint } from '../registry/registry.ts'
import { apiVersionOf } from '../registry/served-resource.ts'
import type { ResourceContext } from '../request/context.ts'
import type { Admission } from './admission.ts'
import { createAttributes, writeOptionsObject } from './create-attributes.ts'

/** What asks admission, and about which endpoint. */
interface Asker {
  readonly admission: Admission
  readonly context: ResourceContext
  readonly endpoint: Endpoint
}

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
export async function admitPart({ admission, context, endpoint }: Asker, part: Part): Promise<void> {
  // A body need not say what it is: the path does.
  part.object.kind ??= part.kind.kind
  part.object.apiVersion ??= apiVersionOf(part.kind.group, part.kind.version)
  const attributes = createAttributes(context, endpoint, {
    ...part,
    server: admission.server,
    operation: 'CREATE',
    oldObject: undefined,
    options: writeOptionsObject(context, 'CreateOptions'),
  })
  await admission.mutate(attributes)
  await admission.validate(attributes)
}

/**
 * Asks admission about a connection (`pods/exec`, `services/proxy`). `object` is what was asked for (PodExecOptions);
 * plug-ins may change it.
 */
export async function admitConnect(
  { admission, context, endpoint }: Asker,
  { kind, object }: Pick<Part, 'kind' | 'object'>,
): Promise<void> {
  const attributes = createAttributes(context, endpoint, {
    server: admission.server,
    operation: 'CONNECT',
    kind,
    object,
    oldObject: undefined,
    dryRun: false,
  })
  await admission.mutate(attributes)
  await admission.validate(attributes)
}
