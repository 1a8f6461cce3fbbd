import { deepClone, type JsonObject } from '@coxswain/apimachinery/json'
import { newNotFound } from '@coxswain/apimachinery/status'
import { encodeStored, StoredObject } from '../cache/stored-object.ts'
import { createMatcher } from '../read/matcher.ts'
import type { ReadPorts } from '../read/ports.ts'
import { Reader } from '../read/read.ts'
import { parseServed } from '../registry/convert.ts'
import { type Endpoint, objectKey, type Registry, type ResourceHandler } from '../registry/registry.ts'
import type { ResourceContext } from '../request/context.ts'
import { parseListOptions, validateListOptions } from '../request/list-options.ts'
import { parseWriteOptions } from '../request/write-options.ts'
import { changeStored } from '../write/change-stored.ts'
import { replacedObject } from '../write/pipeline.ts'
import type { WritePorts } from '../write/ports.ts'
import { createWrite, type Write } from '../write/write.ts'

/** Which part of an object a change may be about: the object itself, or its status. */
export type ChangedPart = '' | 'status'

/** What handlers of resources that are defined in code may use of the server. */
export interface OwnServer {
  readonly registry: Pick<Registry, 'findResource'>
  /** The request's object as it is now, in the endpoint's version. Throws a 404. */
  read(context: ResourceContext, endpoint: Endpoint): Promise<JsonObject>
  /** Changes the request's object under all rules of an update, again whenever another write comes first. */
  change(
    context: ResourceContext,
    endpoint: Endpoint,
    change: { readonly part: ChangedPart; readonly change: (object: JsonObject) => void },
  ): Promise<JsonObject>
}

export interface OwnServerPorts {
  readonly registry: Registry
  readonly read: ReadPorts
  readonly write: WritePorts
}

export function createOwnServer({ registry, read, write }: OwnServerPorts): OwnServer {
  const portsOf = ({ resource: { home } }: Endpoint): WritePorts =>
    home ? { ...write, ...home, reader: new Reader({ ...read, ...home }) } : write
  return {
    registry,
    async read(context, endpoint) {
      return await parseServed(endpoint, await portsOf(endpoint).reader.getFresh(context, endpoint))
    },
    async change(context, endpoint, { part, change }) {
      const options = parseWriteOptions(context, 'UpdateOptions')
      const begun = createWrite(portsOf(endpoint), {
        context,
        endpoint,
        options,
        operation: 'UPDATE',
        subresource: part,
      })
      const run = (each: Write) => {
        each.object = deepClone(each.old!) as JsonObject
        change(each.object)
      }
      const result = await changeStored(begun, [{ name: 'change object', run }, ...replacedObject])
      return result instanceof StoredObject ? await parseServed(endpoint, result) : result
    },
  }
}

/** Computes the objects of a virtual resource, in its storage version. */
export type ComputeObjects = (context: ResourceContext) => Promise<readonly JsonObject[]>

/** Handlers of a resource whose objects are stored nowhere: each request computes them. */
export function createVirtualHandlers(
  reader: Reader,
  compute: ComputeObjects,
): Readonly<Record<string, ResourceHandler>> {
  const storedOf = ({ resource }: Endpoint, object: JsonObject): StoredObject => {
    const { namespace = '', name = '' } = object.metadata as { namespace?: string; name?: string }
    return new StoredObject(objectKey(resource, namespace, name), namespace, name, 1, encodeStored(object))
  }
  return {
    ' get': async (context, endpoint) => {
      const view = reader.view(context, endpoint)
      const { name, namespace } = context.info
      const found = (await compute(context)).find(({ metadata }) => {
        const place = metadata as { namespace?: string; name?: string }
        return place.name === name && (place.namespace ?? '') === namespace
      })
      if (!found) throw newNotFound(endpoint.resource.info, name)
      return await view.object(200, found)
    },
    ' list': async (context, endpoint) => {
      const view = reader.view(context, endpoint)
      const options = parseListOptions(context.query)
      validateListOptions(options)
      const { matches } = createMatcher(endpoint, options)
      const objects = await compute(context)
      return view.made(objects.filter(object => matches(storedOf(endpoint, object))))
    },
  }
}
