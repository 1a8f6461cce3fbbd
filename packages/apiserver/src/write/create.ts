import type { JsonObject } from '@coxswain/apimachinery/json'
import { newBadRequest, newMethodNotSupported } from '@coxswain/apimachinery/status'
import type { WireResponse } from '@coxswain/wire'
import type { StoredObject } from '../cache/stored-object.ts'
import type { Endpoint } from '../registry/registry.ts'
import type { ResourceContext } from '../request/context.ts'
import { parseWriteOptions } from '../request/write-options.ts'
import { pipelines, runSteps, type Step } from './pipeline.ts'
import type { WritePorts } from './ports.ts'
import { createWrite, type Write } from './write.ts'

export async function handleCreate(
  ports: WritePorts,
  context: ResourceContext,
  endpoint: Endpoint,
): Promise<WireResponse> {
  const { resource } = endpoint
  if (context.info.name !== '') throw newMethodNotSupported(resource.info, 'create')
  if (resource.info.namespaced && context.info.namespace === '') {
    throw newBadRequest('an empty namespace may not be set during creation')
  }
  const view = ports.reader.view(context, endpoint)
  const options = parseWriteOptions(context, 'CreateOptions')
  const write = createWrite(ports, { context, endpoint, options, operation: 'CREATE' })
  return view.object(201, await createObject(write, pipelines.create))
}

/** Runs the steps of a create, the last of which stores the object. */
export async function createObject<W extends Write>(
  write: W,
  steps: readonly Step<W>[],
): Promise<StoredObject | JsonObject> {
  await runSteps(steps, write)
  return write.result!
}
