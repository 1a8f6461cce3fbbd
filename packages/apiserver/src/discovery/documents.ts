import {
  aggregatedDiscovery,
  aggregatedDiscoveryMediaType,
  apiGroup,
  apiGroupList,
  apiResourceList,
  apiVersions,
  encodeOpenApiV2,
  encodeOpenApiV3,
  type ForeignOpenApiV2,
  mergeOpenApiV2,
  openApiV2,
  openApiV3,
  openApiV3Names,
  openApiV3Place,
  type VersionDiscovery,
  writeMembers,
} from '@coxswain/api'
import { writeJson } from '@coxswain/apimachinery/json'
import type { ResourceInfo } from '@coxswain/apimachinery/kinds'
import { getHeader, type WireResponse } from '@coxswain/wire'
import type { Turns } from '../cache/slices.ts'
import type { Registry } from '../registry/registry.ts'
import { parseAccept } from '../request/accept.ts'
import { acceptsGzip, type Compression } from '../request/compression.ts'
import type { RequestContext } from '../request/context.ts'
import type { Next } from '../request/filter.ts'
import { isPretty } from '../request/pretty.ts'
import { jsonHeaders, jsonResponse, notFoundPage, unknownResource } from '../request/response.ts'
import { listedGroups, mergeDiscovery, type Ranked } from './group-order.ts'
import { type KeptDocument, KeptDocuments } from './kept-documents.ts'

/** The encodings of an OpenAPI document, by accepted media type; the first is the default. */
interface OpenApiTypes {
  readonly json: readonly string[]
  readonly protobuf: readonly string[]
}

/** Responses use the media type without `@`: Go's clients can parse it, and kubectl 1.20 fails on the other form. */
function openApiTypes(version: 'v2' | 'v3'): OpenApiTypes {
  const name = `application/com.github.proto-openapi.spec.${version}`
  return { json: ['application/json'], protobuf: [`${name}.v1.0+protobuf`, `${name}@v1.0+protobuf`] }
}

const v2Types = openApiTypes('v2')
const v3Types = openApiTypes('v3')

/** What APIServices add to the documents. */
export interface AggregatedApis {
  /** Every APIService; another array after each change. */
  readonly services: readonly Ranked[]
  /** What other servers serve, by `GROUP/VERSION`; another map after each change. */
  readonly versions: ReadonlyMap<string, VersionDiscovery>
  /** Their OpenAPI v2 documents, the most preferred first; another list after each change. */
  readonly specs: readonly ForeignOpenApiV2[]
  /** The URLs of their OpenAPI v3 documents, by name; another map after each change. */
  readonly documents: ReadonlyMap<string, string>
  /** Serves one of `documents`. */
  findDocument(name: string): Next | undefined
}

export interface DocumentOptions {
  readonly registry: Registry
  readonly aggregated: AggregatedApis
  readonly turns: Turns
  readonly compression?: Compression | undefined
}

/** Discovery and OpenAPI documents, built from the registry on first use and kept until it changes. */
export class Documents {
  readonly #registry: Registry
  readonly #aggregated: AggregatedApis
  readonly #kept: KeptDocuments
  #generation = -1
  #services: readonly Ranked[] = []
  /** With their versions, as `/apis` lists them. */
  #groups: ReadonlyMap<string, readonly string[]> = new Map()
  #resources: readonly ResourceInfo[] = []
  #byGroup: ReadonlyMap<string, readonly ResourceInfo[]> = new Map()
  #openApiNames: readonly string[] = []
  #paths: ReadonlyMap<string, string> | undefined

  constructor({ registry, aggregated, turns, compression }: DocumentOptions) {
    this.#registry = registry
    this.#aggregated = aggregated
    this.#kept = new KeptDocuments(turns, compression)
  }

  /** `/api`, `/apis` and below, except for resources. */
  discovery(context: RequestContext): WireResponse | Promise<WireResponse> {
    this.#refresh()
    const [root, group, version, ...rest] = context.path.segments
    if (root === 'api') {
      if (group === undefined) return this.#root(context, 'core')
      const list = version === undefined && apiResourceList(this.#ofGroup(''), '', group)
      if (!list) throw unknownResource()
      return jsonResponse(200, list)
    }
    if (group === undefined) return this.#root(context, 'named')
    const found =
      version === undefined
        ? apiGroup(this.#groups, group)
        : apiResourceList(this.#ofGroup(group), group, version)
    if (found && rest.length === 0) return jsonResponse(200, found)
    if (this.#registry.hasBuiltinGroup(group)) throw unknownResource()
    return notFoundPage
  }

  openapi(context: RequestContext): WireResponse | Promise<WireResponse> {
    this.#refresh()
    const [, version, ...rest] = context.path.segments
    if (version === 'v2' && rest.length === 0) return this.#v2(context)
    if (version !== 'v3') return notFoundPage
    if (rest.length === 0) return this.#v3Index(context)
    const name = rest.join('/')
    const foreign = this.#openApiNames.includes(name) ? undefined : this.#aggregated.findDocument(name)
    return foreign ? foreign(context) : this.#v3(context, name)
  }

  /** The path as listed at `/`; undefined when it is not. Never the client's text, however the path was written. */
  knownPath(segments: readonly string[]): string | undefined {
    this.#refresh()
    this.#paths ??= new Map(this.paths().map(path => [path, path]))
    return segments.length > 4 ? undefined : this.#paths.get(`/${segments.join('/')}`)
  }

  /** The paths listed at `/`. */
  paths(): readonly string[] {
    this.#refresh()
    const remote = [...this.#aggregated.versions.keys()].flatMap(name => [
      `/apis/${name}`,
      `/apis/${name.slice(0, name.indexOf('/'))}`,
    ])
    return [
      ...new Set([...this.#openApiNames.map(name => `/${name}`), ...remote]),
      '/healthz',
      '/livez',
      '/metrics',
      '/openapi/v2',
      '/openapi/v3',
      '/readyz',
      '/version',
    ].sort()
  }

  #refresh(): void {
    const { services } = this.#aggregated
    if (this.#generation === this.#registry.generation && this.#services === services) return
    this.#services = services
    this.#paths = undefined
    if (this.#generation !== this.#registry.generation) this.#readRegistry()
    this.#groups = listedGroups(services, this.#resources)
  }

  #readRegistry(): void {
    this.#generation = this.#registry.generation
    this.#resources = [...this.#registry.resources()].map(({ info }) => info)
    this.#byGroup = Map.groupBy(this.#resources, info => info.group)
    this.#openApiNames = openApiV3Names(this.#resources)
    const served = new Set(this.#openApiNames)
    this.#kept.keepOnly(name => {
      const [kind, of = ''] = name.split(' ')
      return kind !== 'v3' || served.has(of)
    })
  }

  #ofGroup(group: string): readonly ResourceInfo[] {
    return this.#byGroup.get(group) ?? []
  }

  async #root(context: RequestContext, root: 'core' | 'named'): Promise<WireResponse> {
    const resources = this.#resources
    const isAggregated = wantsAggregated(context)
    if (!isAggregated && root === 'core') {
      return jsonResponse(200, apiVersions(getHeader(context.request.headers, 'host') ?? ''))
    }
    const { services, versions } = this.#aggregated
    const groups = this.#groups
    const document = isAggregated
      ? await this.#kept.get(`aggregated ${root}`, [resources, services, versions], () => {
          const own = aggregatedDiscovery(resources, root)
          return [`${writeJson(root === 'core' ? own : mergeDiscovery(own, services, versions))}\n`]
        })
      : await this.#kept.get('groups', [groups], () => [`${writeJson(apiGroupList(groups))}\n`])
    if (!isAggregated) return this.#send(context, document, jsonHeaders)
    return this.#conditional(context, document, {
      'content-type': aggregatedDiscoveryMediaType,
      vary: 'Accept',
    })
  }

  async #v2(context: RequestContext): Promise<WireResponse> {
    const encoding = negotiateOpenApi(context, v2Types)
    if (!encoding) return notAcceptable
    const resources = this.#resources
    const { specs } = this.#aggregated
    const document = await this.#kept.get(`v2 ${encoding}`, [resources, specs], () => {
      const members = mergeOpenApiV2(openApiV2(resources), specs)
      return encoding === 'json' ? writeMembers(members) : encodeOpenApiV2(members)
    })
    return this.#conditional(context, document, { 'content-type': v2Types[encoding][0]!, vary: 'Accept' })
  }

  async #v3Index(context: RequestContext): Promise<WireResponse> {
    const resources = this.#resources
    const names = this.#openApiNames
    const documents = await Promise.all(names.map(name => this.#v3Json(name)))
    const remote = this.#aggregated.documents
    const index = await this.#kept.get('index', [resources, remote], () => {
      const own = names.map((name, i): [string, string] => [name, v3Url(name, documents[i]!.hash)])
      const all = [...new Map([...remote, ...own])].sort(([a], [b]) => (a < b ? -1 : 1))
      const paths = all.map(([name, serverRelativeURL]) => [name, { serverRelativeURL }])
      return [writeJson({ paths: Object.fromEntries(paths) })]
    })
    return this.#conditional(context, index, { 'content-type': 'application/json' })
  }

  /** As upstream, both encodings have the hash of the JSON as ETag. */
  async #v3(context: RequestContext, name: string): Promise<WireResponse> {
    if (!this.#openApiNames.includes(name)) return { status: 404, headers: {} }
    const encoding = negotiateOpenApi(context, v3Types)
    if (!encoding) return notAcceptable
    const { resources, members } = this.#v3Source(name)
    const json = await this.#v3Json(name)
    const given = context.query.get('hash')
    const headers = { 'content-type': v3Types[encoding][0]!, vary: 'Accept' }
    if (given && given !== json.hash) {
      return { status: 301, headers: { ...headers, location: v3Url(name, json.hash) } }
    }
    const document =
      encoding === 'json'
        ? json
        : await this.#kept.get(`v3 ${name} protobuf`, resources, () => encodeOpenApiV3(members()))
    const expires = new Date(context.env.clock.now() + 365 * 24 * 3_600_000).toUTCString()
    const cached = given ? { 'cache-control': 'public, immutable', expires } : {}
    return this.#conditional(context, { ...document, hash: json.hash }, { ...headers, ...cached })
  }

  #v3Json(name: string): Promise<KeptDocument> {
    const { resources, members } = this.#v3Source(name)
    return this.#kept.get(`v3 ${name}`, resources, () => writeMembers(members()))
  }

  /** A document depends only on the resources of its group: changes of others do not invalidate it. */
  #v3Source(name: string) {
    const { group } = openApiV3Place(name)
    const resources = group === undefined ? [] : this.#ofGroup(group)
    return { resources, members: () => openApiV3(resources, name)! }
  }

  /** 304 for a client that already has the document. */
  #conditional(
    context: RequestContext,
    document: KeptDocument,
    headers: Readonly<Record<string, string>>,
  ): WireResponse {
    const etag = `"${document.hash}"`
    const tagged = { 'cache-control': 'public', ...headers, etag }
    if (getHeader(context.request.headers, 'if-none-match') === etag) return { status: 304, headers: tagged }
    return this.#send(context, document, tagged)
  }

  #send(
    { request, query }: RequestContext,
    document: KeptDocument,
    headers: WireResponse['headers'],
  ): WireResponse {
    const { bytes, packed, length } = document
    if (!packed) return { status: 200, headers, body: bytes }
    if (!acceptsGzip(getHeader(request.headers, 'accept-encoding')) || isPretty(request, query)) {
      return {
        status: 200,
        headers: { ...headers, 'content-length': String(length) },
        body: this.#kept.plain(document),
      }
    }
    const vary = headers.vary === undefined ? 'Accept-Encoding' : `${String(headers.vary)}, Accept-Encoding`
    return { status: 200, headers: { ...headers, vary, 'content-encoding': 'gzip' }, body: bytes }
  }
}

/** 406 as OpenAPI has it, without a body. */
const notAcceptable: WireResponse = { status: 406, headers: { vary: 'Accept' } }

/** The client's most preferred encoding; undefined when it accepts none. */
function negotiateOpenApi(context: RequestContext, types: OpenApiTypes): keyof OpenApiTypes | undefined {
  const accept = getHeader(context.request.headers, 'accept')
  if (!accept) return 'json'
  for (const { type } of parseAccept(accept)) {
    if (type === '*/*' || type === 'application/*' || types.json.includes(type)) return 'json'
    if (types.protobuf.includes(type)) return 'protobuf'
  }
  return undefined
}

function v3Url(name: string, hash: string): string {
  return `/openapi/v3/${name}?hash=${hash}`
}

function wantsAggregated(context: RequestContext): boolean {
  for (const { type, parameters } of parseAccept(getHeader(context.request.headers, 'accept') ?? '')) {
    if (type !== 'application/json' && type !== '*/*') continue
    const as = parameters.get('as')
    if (as === undefined) return false
    if (
      as === 'APIGroupDiscoveryList' &&
      parameters.get('g') === 'apidiscovery.k8s.io' &&
      parameters.get('v') === 'v2'
    )
      return true
  }
  return false
}
