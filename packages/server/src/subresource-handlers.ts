import { type JsonObject, readJson } from '@coxswain/apimachinery/json'
import type { ApiObject } from '@coxswain/apimachinery/meta'
import { newBadRequest, newMethodNotSupported } from '@coxswain/apimachinery/status'
import type { ChangedPart, OwnServer, ResourceHandler } from '@coxswain/apiserver'
import { encodeText } from '@coxswain/kit'
import type { WireResponse } from '@coxswain/wire'
import type { Hub } from './hub.ts'
import type { ObjectLookup, OwnSubresource, SubresourceAnswer, SubresourceRequest } from './resource.ts'

export interface SubresourcePorts {
  readonly server: OwnServer
  readonly hub: Hub
  readonly objects: ObjectLookup
}

type Answers = OwnSubresource<ApiObject>['verbs'][keyof OwnSubresource<ApiObject>['verbs']]

/** By `SUBRESOURCE verb`. */
export function createSubresourceHandlers(
  ports: SubresourcePorts,
  subresources: Readonly<Record<string, OwnSubresource<ApiObject>>>,
): Record<string, ResourceHandler> {
  const handlers: Record<string, ResourceHandler> = {}
  for (const [name, { verbs }] of Object.entries(subresources))
    for (const [verb, answer] of Object.entries(verbs))
      handlers[`${name} ${verb}`] = createHandler(ports, answer)
  return handlers
}

function createHandler({ server, hub, objects }: SubresourcePorts, answer: Answers): ResourceHandler {
  return async (context, endpoint) => {
    if (!answer) throw newMethodNotSupported(endpoint.resource.info, context.info.verb)
    const { env, user, query, warnings, request } = context
    const { namespace, name } = context.info
    const change = async (part: ChangedPart, apply: (object: never) => void) => {
      const changed = await server.change(context, endpoint, {
        part,
        change: object => hub.within(object, each => apply(each as never)),
      })
      return hub.to(changed) as never
    }
    const asked: SubresourceRequest<ApiObject> = {
      clock: env.clock,
      random: env.random,
      user,
      dryRun: query.get('dryRun') === 'All',
      warn: text => warnings.push(text),
      objects,
      object: hub.to(await server.read(context, endpoint)) as never,
      key: namespace === '' ? { name } : { namespace, name },
      body: readBody(request.body),
      query,
      request,
      signal: request.signal,
      update: apply => change('', apply as never),
      updateStatus: apply => change('status', apply as never),
    }
    return toResponse(await answer(asked))
  }
}

/** Throws a 400 when it is not JSON. */
function readBody(bytes: Uint8Array | undefined): unknown {
  if (!bytes || bytes.length === 0) return undefined
  try {
    return readJson(bytes, { literals: false }).value as JsonObject
  } catch (error) {
    throw newBadRequest(`the body is not JSON: ${(error as Error).message}`)
  }
}

function toResponse(answer: SubresourceAnswer): WireResponse {
  if (!('json' in answer)) return answer
  const { json, status = 200 } = answer
  return { status, headers: { 'content-type': 'application/json' }, body: encodeText(JSON.stringify(json)) }
}
