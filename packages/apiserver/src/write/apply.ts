import * as field from '@coxswain/apimachinery/field'
import { newConflict, newInvalid } from '@coxswain/apimachinery/status'
import type { WireResponse } from '@coxswain/wire'
import { type Endpoint, objectKey } from '../registry/registry.ts'
import type { ResourceContext } from '../request/context.ts'
import { parseWriteOptions, type WriteOptions } from '../request/write-options.ts'
import { changeStored } from './change-stored.ts'
import { type ApplyWrite, readConfiguration } from './configuration.ts'
import { createObject } from './create.ts'
import { metadataOf } from './metadata.ts'
import { pipelines } from './pipeline.ts'
import type { WritePorts } from './ports.ts'
import { createWrite } from './write.ts'

/** Server-side apply: the body is the manager's complete configuration. */
export async function handleApply(
  ports: WritePorts,
  context: ResourceContext,
  endpoint: Endpoint,
): Promise<WireResponse> {
  const { info } = context
  const { resource } = endpoint
  const view = ports.reader.view(context, endpoint)
  const options = parseWriteOptions(context, 'ApplyOptions')
  requireManager(options)
  const configuration = readConfiguration(context, endpoint)
  const { uid, resourceVersion } = metadataOf(configuration.patch)
  const start = (operation: 'CREATE' | 'UPDATE'): ApplyWrite => ({
    ...createWrite(ports, { context, endpoint, options, operation }),
    configuration,
  })
  await ports.cache.fresh()
  if (!resource.cache.get(objectKey(resource, info.namespace, info.name)) && info.subresource === '') {
    if (uid) {
      const detail = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`
      throw newConflict(resource.info, info.name, detail)
    }
    return view.object(201, await createObject(start('CREATE'), pipelines.applyNew))
  }
  const write = start('UPDATE')
  write.expected = { resourceVersion }
  write.conditional = resourceVersion !== undefined
  return view.object(200, await changeStored(write, pipelines.apply))
}

/** An apply must name its field manager. Throws a 422. */
export function requireManager({ namedManager }: WriteOptions): void {
  if (namedManager) return
  throw newInvalid({ group: 'meta.k8s.io', kind: 'PatchOptions' }, '', [
    field.required(field.Path.of('fieldManager'), 'is required for apply patch'),
  ])
}
