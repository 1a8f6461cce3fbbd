import type { JsonObject } from '@coxswain/apimachinery/json'
import type { GroupVersionKind } from '@coxswain/apimachinery/meta'
import type { Endpoint } from '../registry/registry.ts'
import type { ResourceContext } from '../request/context.ts'
import type { Admission } from './admission.ts'
import { createAttributes } from './create-attributes.ts'

/** What asks admission, and about which endpoint. */
interface Asker {
  readonly admission: Admission
  readonly context: ResourceContext
  readonly endpoint: Endpoint
}

/** What was asked for, such as PodExecOptions. Plug-ins may change the object. */
interface Connection {
  readonly kind: GroupVersionKind
  readonly object: JsonObject
}

/** Asks admission about a connection (`pods/exec`, `services/proxy`). */
export async function admitConnect(
  { admission, context, endpoint }: Asker,
  { kind, object }: Connection,
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
