import { deepClone } from '@coxswain/apimachinery/json'
import { newNotFound } from '@coxswain/apimachinery/status'
import type { WireResponse } from '@coxswain/wire'
import { type Endpoint, objectKey } from '../registry/registry.ts'
import type { ResourceContext } from '../request/context.ts'
import { parseWriteOptions } from '../request/write-options.ts'
import { changeStored } from './change-stored.ts'
import { requireVersion } from './checks.ts'
import { createObject } from './create.ts'
import { metadataOf } from './metadata.ts'
import { pipelines, runSteps } from './pipeline.ts'
import type { WritePorts } from './ports.ts'
import { createWrite } from './write.ts'

export async function handleUpdate(
  ports: WritePorts,
  context: ResourceContext,
  endpoint: Endpoint,
): Promise<WireResponse> {
  const { info } = context
  const { resource } = endpoint
  const view = ports.reader.view(context, endpoint)
  const options = parseWriteOptions(context, 'UpdateOptions')
  const write = createWrite(ports, { context, endpoint, options, operation: 'UPDATE' })
  const waiting = runSteps(pipelines.receive, write)
  if (waiting) await waiting
  const received = write.object
  const wanted = metadataOf(received)
  await ports.cache.fresh()
  if (!resource.cache.get(objectKey(resource, info.namespace, info.name))) {
    if (!resource.strategy.createOnUpdate || info.subresource !== '')
      throw newNotFound(resource.info, info.name)
    delete wanted.resourceVersion
    const create = { ...write, operation: 'CREATE' as const }
    return view.object(201, await createObject(create, pipelines.createReceived))
  }
  requireVersion(endpoint, wanted.resourceVersion, info.name)
  write.expected = { resourceVersion: wanted.resourceVersion, uid: wanted.uid }
  write.conditional = Boolean(wanted.resourceVersion)
  const result = await changeStored(write, pipelines.update, () => {
    write.object = deepClone(received)
  })
  return view.object(200, result)
}
