/** Takes facts off the conversation itself: whatever a passing test asked and got answered is served. */
import type { TestContext } from 'node:test'
import { type Handler, parsePath, parseQuery, type WireRequest, type WireResponse } from '@coxswain/wire'
import { parseRequestInfo } from '../../packages/apiserver/src/request/request-info.ts'
import {
  type CoverageFact,
  type ListedFact,
  type MediaType,
  type PatchType,
  recordCoverageLater,
  type ServedFact,
  verbs,
} from './fact.ts'

/** Answers as `handler` does, and records what it answered well if the test `t` passes. */
export function observeCoverage(t: TestContext, handler: Handler): Handler {
  if (!process.env.COXSWAIN_COVERAGE) return handler
  const facts = new Map<string, CoverageFact>()
  recordCoverageLater(t, () => facts.values())
  return async request => {
    const response = await handler(request)
    const fact = factOf(request, response)
    if (fact) facts.set(JSON.stringify(fact), fact)
    return response
  }
}

const patchTypes: Readonly<Record<string, PatchType>> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
  'application/apply-patch+yaml': 'apply',
  'application/apply-patch+cbor': 'apply',
}

const encodings: Readonly<Record<string, MediaType>> = {
  'application/json': 'json',
  'application/yaml': 'yaml',
  'application/cbor': 'cbor',
  'application/vnd.kubernetes.protobuf': 'protobuf',
}

/** What one exchange proves; nothing when it failed or was not about a resource. */
export function factOf(request: WireRequest, response: WireResponse): ServedFact | undefined {
  if (response.status < 200 || response.status > 299) return undefined
  const { segments } = parsePath(request.path)
  const info = parseRequestInfo(request.method, request.path, segments, parseQuery(request.query))
  if (!info.isResource || info.resource === '' || info.verb === '') return undefined
  const resource = [info.group, info.version, info.resource, info.subresource]
    .filter(part => part !== '')
    .join('/')
  const patchType = patchTypes[headerOf(request, 'content-type').split(';')[0]!.trim()]
  if (info.verb === 'patch' && !patchType) return undefined
  const mediaType = mediaTypeOf(request, response)
  if (!mediaType) return undefined
  return { resource, verb: info.verb, ...(info.verb === 'patch' ? { patchType: patchType! } : {}), mediaType }
}

/** Tables and metadata are JSON that the client asked for in another shape. */
function mediaTypeOf(request: WireRequest, response: WireResponse): MediaType | undefined {
  const [type = '', ...parameters] = headerOf(response, 'content-type')
    .split(';')
    .map(part => part.trim())
  const accept = headerOf(request, 'accept').split(',')[0]!
  const shape = /\bas=(\w+)/.exec(parameters.join(';') || accept)?.[1]
  if (type === 'application/json' && shape === 'Table') return 'table'
  if (type === 'application/json' && shape?.startsWith('PartialObjectMetadata')) return 'metadata'
  return encodings[type]
}

function headerOf({ headers }: Pick<WireRequest, 'headers'>, name: string): string {
  const value = headers[name] ?? ''
  return typeof value === 'string' ? value : value.join(',')
}

interface ResourceList {
  readonly groupVersion: string
  readonly resources: readonly { readonly name: string; readonly verbs: readonly string[] }[]
}

/** Facts for everything that the resource lists of discovery offer. */
export function listedFacts(lists: readonly ResourceList[]): ListedFact[] {
  return lists.flatMap(({ groupVersion, resources }) =>
    resources.map(({ name, verbs: offered }) => ({
      resource: `${groupVersion}/${name}`,
      offered: verbs.filter(verb => offered.includes(verb)),
    })),
  )
}
