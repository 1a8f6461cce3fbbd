import {
  aggregatedDiscovery,
  aggregatedDiscoveryMediaType,
  apiGroup,
  apiGroupList,
  apiResourceList,
  apiVersions,
  buildOpenApiV2,
  buildOpenApiV3,
  encodeGnostic,
  gnosticMediaTypes,
  openApiV3Names,
  sha256,
} from '@coxswain/api'
import { newNotAcceptable, type ResourceInfo, writeJsonBytes } from '@coxswain/apimachinery'
import { getHeader, type WireResponse } from '@coxswain/wire'
import { acceptsGzip, type Compression } from './compression.ts'
import { encodeText } from './json.ts'
import type { Registry } from './registry/registry.ts'
import { parseAccept } from './request/accept.ts'
import type { RequestContext } from './request/context.ts'
import { jsonResponse, notFoundPage, unknownResource } from './response.ts'
import { versionInfo } from './version.ts'

/** The form of the name that Go's clients can parse; the other one, with an `@`, makes kubectl 1.20 give up. */
const openApiV2Protobuf = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf'

/** A document, with the tag of its content. */
interface Document {
  readonly etag: string
  bytes: Uint8Array
  /** Whether the bytes are compressed: large documents are seldom read and need not lie about in full. */
  packed: boolean
}

/** Smaller documents are kept as they are. */
const packedFrom = 16 * 1024

/** Discovery and OpenAPI, built from the registry when somebody asks and kept until it changes. */
export class Documents {
  readonly #registry: Registry
  readonly #compression: Compression | undefined
  #generation = -1
  #resources: readonly ResourceInfo[] = []
  readonly #built = new Map<string, Document>()
  /** What `/` lists, each by itself. */
  #paths: ReadonlyMap<string, string> | undefined

  constructor(registry: Registry, compression?: Compression) {
    this.#registry = registry
    this.#compression = compression
  }

  /** `/api`, `/apis` and below, as far as it is not about a resource. */
  discovery(context: RequestContext): WireResponse | Promise<WireResponse> {
    this.#refresh()
    const [root, group, version, ...rest] = context.path.segments
    if (root === 'api') {
      if (group === undefined) return this.#root(context, 'core')
      const list = version === undefined && apiResourceList(this.#resources, '', group)
      if (!list) throw unknownResource()
      return jsonResponse(200, list)
    }
    if (group === undefined) return this.#root(context, 'named')
    const found =
      version === undefined
        ? apiGroup(this.#resources, group)
        : apiResourceList(this.#resources, group, version)
    if (found && rest.length === 0) return jsonResponse(200, found)
    if (this.#registry.hasBuiltinGroup(group)) throw unknownResource()
    return notFoundPage
  }

  openapi(context: RequestContext): WireResponse | Promise<WireResponse> {
    this.#refresh()
    const [, version, ...rest] = context.path.segments
    if (version === 'v2' && rest.length === 0) return this.#v2(context)
    if (version !== 'v3') return notFoundPage
    if (rest.length > 0) return this.#v3(context, rest.join('/'))
    const paths = openApiV3Names(this.#resources).map(name => [
      name,
      { serverRelativeURL: this.#v3Url(name) },
    ])
    return jsonResponse(200, { paths: Object.fromEntries(paths) })
  }

  /** The path as `/` lists it; undefined when it does not. Never the client's text, however the path was written. */
  knownPath(segments: readonly string[]): string | undefined {
    this.#refresh()
    this.#paths ??= new Map(this.paths().map(path => [path, path]))
    return segments.length > 4 ? undefined : this.#paths.get(`/${segments.join('/')}`)
  }

  /** What `/` lists. */
  paths(): readonly string[] {
    this.#refresh()
    const groups = openApiV3Names(this.#resources).map(name => `/${name}`)
    return [
      ...groups,
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
    if (this.#generation === this.#registry.generation) return
    this.#generation = this.#registry.generation
    this.#resources = [...this.#registry.resources()].map(({ info }) => info)
    this.#built.clear()
    this.#paths = undefined
  }

  #root(context: RequestContext, root: 'core' | 'named'): WireResponse | Promise<WireResponse> {
    if (!wantsAggregated(context)) {
      const { host = '' } = context.request.headers
      return jsonResponse(200, root === 'core' ? apiVersions(String(host)) : apiGroupList(this.#resources))
    }
    const document = this.#build(`aggregated ${root}`, () =>
      writeJsonBytes(aggregatedDiscovery(this.#resources, root)),
    )
    return this.#conditional(context, document, {
      'content-type': aggregatedDiscoveryMediaType,
      vary: 'Accept',
    })
  }

  #v2(context: RequestContext): WireResponse | Promise<WireResponse> {
    const accept = getHeader(context.request.headers, 'accept') ?? ''
    const clauses = parseAccept(accept).map(({ type }) => type)
    if (gnosticMediaTypes.some(type => clauses.includes(type))) {
      const document = this.#build('v2 protobuf', () => encodeGnostic(buildOpenApiV2(this.#resources)))
      return this.#conditional(context, document, { 'content-type': openApiV2Protobuf, vary: 'Accept' })
    }
    if (clauses.length > 0 && !clauses.some(type => type === 'application/json' || type.endsWith('/*'))) {
      throw newNotAcceptable(['application/json', ...gnosticMediaTypes])
    }
    const document = this.#build('v2', () => writeJsonBytes(buildOpenApiV2(this.#resources)))
    return this.#conditional(context, document, { 'content-type': 'application/json', vary: 'Accept' })
  }

  #v3(context: RequestContext, name: string): WireResponse | Promise<WireResponse> {
    if (!openApiV3Names(this.#resources).includes(name)) return { status: 404, headers: {} }
    const given = context.query.get('hash')
    const url = this.#v3Url(name)
    if (given !== undefined && !url.endsWith(`=${given}`)) return { status: 301, headers: { location: url } }
    const document = this.#build(`v3 ${name}`, () => writeJsonBytes(buildOpenApiV3(this.#resources, name)))
    const expires = new Date(context.state.env.clock.now() + 365 * 24 * 3_600_000).toUTCString()
    const cached = given === undefined ? {} : { 'cache-control': 'public, immutable', expires }
    return this.#conditional(context, document, {
      'content-type': 'application/json',
      vary: 'Accept',
      ...cached,
    })
  }

  /** Changes when a resource of the document does; cheaper than building the document to hash it. */
  #v3Url(name: string): string {
    const key = `hash ${name}`
    const [, group = '', version = ''] = name.startsWith('apis/')
      ? name.split('/')
      : ['', '', name.slice('api/'.length)]
    const { etag } = this.#build(key, () => {
      const parts = this.#resources
        .filter(info => info.group === group)
        .map(info => describeForHash(info, version))
      return encodeText(`${versionInfo.gitVersion} ${name} ${JSON.stringify(parts)}`)
    })
    return `/openapi/v3/${name}?hash=${etag.slice(1, -1)}`
  }

  #build(key: string, make: () => Uint8Array): Document {
    let document = this.#built.get(key)
    if (!document) {
      const bytes = make()
      document = { bytes, etag: `"${toHex(sha256(bytes))}"`, packed: false }
      this.#built.set(key, document)
      if (bytes.length >= packedFrom) this.#pack(document)
    }
    return document
  }

  /** Until it is done, the document goes out as it is. */
  #pack(document: Document): void {
    this.#compression?.pack(document.bytes).then(
      packed => {
        document.bytes = packed
        document.packed = true
      },
      () => {}, // then it stays as it is
    )
  }

  /** 304 for a client that has the document already. */
  #conditional(
    context: RequestContext,
    document: Document,
    headers: Readonly<Record<string, string>>,
  ): WireResponse | Promise<WireResponse> {
    const { headers: asked } = context.request
    const tagged = { 'cache-control': 'public', ...headers, etag: document.etag }
    if (getHeader(asked, 'if-none-match') === document.etag) return { status: 304, headers: tagged }
    if (!document.packed) return { status: 200, headers: tagged, body: document.bytes }
    if (acceptsGzip(getHeader(asked, 'accept-encoding'))) {
      const vary = `${headers.vary ?? 'Accept'}, Accept-Encoding`
      return { status: 200, headers: { ...tagged, vary, 'content-encoding': 'gzip' }, body: document.bytes }
    }
    return this.#compression!.unpack(document.bytes).then(body => ({ status: 200, headers: tagged, body }))
  }
}

function describeForHash(info: ResourceInfo, version: string): unknown {
  const served = info.versions.find(candidate => candidate.name === version)
  const { schema: _schema, ...facts } = served ?? { schema: undefined }
  return [
    info.resource,
    info.kind,
    info.namespaced,
    facts,
    served && !served.schema().name ? served.schema() : undefined,
  ]
}

function toHex(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += (byte + 0x100).toString(16).slice(1)
  return text.toUpperCase()
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
