import type { JsonObject } from '@coxswain/apimachinery/json'
import type { GroupVersionKind } from '@coxswain/apimachinery/meta'
import type { Endpoint } from '../registry/registry.ts'
import type { ResourceContext } from '../request/context.ts'
import type { Admission } from './admission.ts'
import { createAttributes } from './create-attributes.ts'

/** The admission chain, and the endpoint that the request is for. */
interface Asker {
  readonly admission: Admission
  readonly context: ResourceContext
  readonly endpoint: Endpoint
}

/** The request's options object, such as PodExecOptions. Plug-ins may change it. */
interface Connection {
  readonly kind: GroupVersionKind
  readonly object: JsonObject
}

/** Runs admission for a connection (`pods/exec`, `services/proxy`). */
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
