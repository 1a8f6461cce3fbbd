import { encodeText } from '@coxswain/kit'
import type { Handler, WireRequest, WireResponse } from '@coxswain/wire'
import { type ExtensionHouse, openExtensionHouse } from './extension-house.ts'

export const address = '10.1.1.1:8443'
export const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
export const collection = '/apis/wardle.example.com/v1/namespaces/default/flunders'

export const flunders = {
  resource: 'flunders',
  responseKind: { group: '', version: '', kind: 'Flunder' },
  scope: 'Namespaced',
  singularResource: 'flunder',
  verbs: ['get', 'list'],
}

export function json(status: number, value: unknown, type = 'application/json'): WireResponse {
  return { status, headers: { 'content-type': type }, body: encodeText(JSON.stringify(value)) }
}

const v2 = {
  swagger: '2.0',
  paths: {
    '/apis/': { get: { operationId: 'theirs' } },
    '/apis/wardle.example.com/v1/flunders': {
      get: {
        operationId: 'listFlunder',
        responses: { 200: { schema: { $ref: '#/definitions/wardle.Flunder' } } },
      },
    },
  },
  definitions: { 'wardle.Flunder': { type: 'object' }, unused: { type: 'object' } },
}

const v3 = {
  paths: {
    'api/v1': { serverRelativeURL: '/openapi/v3/api/v1?hash=EVIL' },
    'apis/apps/v1': { serverRelativeURL: '/openapi/v3/apis/apps/v1?hash=EVIL' },
    'apis/wardle.example.com/v1': { serverRelativeURL: '/openapi/v3/apis/wardle.example.com/v1?hash=AB' },
  },
}

/** The documents of an extension API server of `wardle.example.com/v1`. */
const documents: Handler = async ({ path }) => {
  const versions = [{ version: 'v1', resources: [flunders] }]
  switch (path) {
    case '/apis':
      return json(
        200,
        {
          items: [
            { metadata: { name: 'wardle.example.com' }, versions },
            { metadata: { name: 'apps' }, versions },
          ],
        },
        aggregated,
      )
    case '/openapi/v2':
      return json(200, v2)
    case '/openapi/v3':
      return json(200, v3)
    default:
      return json(200, { kind: 'Echo', path })
  }
}

export interface Wardle extends ExtensionHouse {
  /** The requests of clients. */
  readonly requests: readonly WireRequest[]
}

/** A house with that server; `answer` answers its clients. */
export async function openWardle(
  answer: Handler = documents,
  more: Parameters<typeof openExtensionHouse>[0] = {},
): Promise<Wardle> {
  const requests: WireRequest[] = []
  const handler: Handler = async request => {
    if (/^system:(kube-)?aggregator$/.test(String(request.headers['x-remote-user'])))
      return await documents(request)
    requests.push(request)
    return await answer(request)
  }
  const house = await openExtensionHouse({ ...more, servers: { [address]: handler } })
  await house.register({ group: 'wardle.example.com' })
  return Object.assign(house, { requests })
}
