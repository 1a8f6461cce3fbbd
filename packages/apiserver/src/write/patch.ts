import type { JsonObject } from '@coxswain/apimachinery/json'
import type { Schema } from '@coxswain/apimachinery/schema'
import { newUnsupportedMediaType } from '@coxswain/apimachinery/status'
import { getHeader, parseMediaType, type WireResponse } from '@coxswain/wire'
import { applyPatch } from '../registry/media-types.ts'
import type { Endpoint } from '../registry/registry.ts'
import type { ResourceContext } from '../request/context.ts'
import { parseWriteOptions } from '../request/write-options.ts'
import { handleApply } from './apply.ts'
import { bytesOf } from './body.ts'
import { changeStored } from './change-stored.ts'
import { compilePatch, type PatchWrite, runPatch } from './patching.ts'
import { pipelines } from './pipeline.ts'
import type { WritePorts } from './ports.ts'
import { createWrite } from './write.ts'

export async function handlePatch(
  ports: WritePorts,
  context: ResourceContext,
  endpoint: Endpoint,
): Promise<WireResponse> {
  const { resource } = endpoint
  const type = typeOf(context)
  if (!resource.patchTypes.includes(type)) {
    const error = newUnsupportedMediaType(resource.patchTypes)
    throw resource.mediaTypeError(error, '415: Unsupported Media Type')
  }
  if (type === applyPatch) return await handleApply(ports, context, endpoint)

  const view = ports.reader.view(context, endpoint)
  const options = parseWriteOptions(context, 'PatchOptions')
  const patch = compilePatch(endpoint.version.schema(), type, bytesOf(context))
  const write: PatchWrite = {
    ...createWrite(ports, { context, endpoint, options, operation: 'UPDATE' }),
    patch,
  }
  return view.object(200, await changeStored(write, pipelines.patch))
}

function typeOf({ request }: ResourceContext): string {
  return parseMediaType(getHeader(request.headers, 'content-type') ?? '').type
}

/** Whether the request is a server-side apply. */
export function isApplyPatch(context: ResourceContext): boolean {
  return context.info.verb === 'patch' && typeOf(context) === applyPatch
}

/** Reads the request's patch, to be applied to something other than the stored object. */
export function patchValue(
  context: ResourceContext,
  { resource }: Endpoint,
  schema: Schema,
): (value: JsonObject) => JsonObject {
  const type = typeOf(context)
  if (type === applyPatch || !resource.patchTypes.includes(type))
    throw newUnsupportedMediaType(resource.patchTypes)
  const patch = compilePatch(schema, type, bytesOf(context))
  return value => runPatch(patch, value)
}
