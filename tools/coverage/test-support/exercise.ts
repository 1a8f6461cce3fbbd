import assert from 'node:assert/strict'
import type { Sample } from '../samples.ts'

/** What the server says, as far as the exercise looks at it. */
export interface Body {
  readonly message?: string
  readonly metadata: { readonly name: string; annotations?: Record<string, string> }
  readonly items: readonly unknown[]
  readonly rows: readonly unknown[]
  readonly groups: readonly { readonly versions: readonly { readonly groupVersion: string }[] }[]
}

export interface Client {
  send(method: string, url: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  /** The first event of a watch. */
  firstEvent(url: string): Promise<{ readonly type: string; readonly object: Body }>
  /** The content type of a watch, and the bytes of its first event. */
  firstFrame(
    url: string,
    accept: string,
  ): Promise<{ readonly contentType: string; readonly bytes: Uint8Array }>
}

export interface Answer {
  readonly status: number
  readonly contentType: string
  readonly body: Body
}

export interface ResourceList {
  readonly groupVersion: string
  readonly resources: readonly Resource[]
}

interface Resource {
  readonly name: string
  readonly kind: string
  readonly namespaced: boolean
  readonly verbs: readonly string[]
}

export interface ExerciseOptions {
  /** As in `apps/v1/deployments`. */
  readonly path: string
  readonly sample: Sample
  /** @default 'sample' */
  readonly name?: string
  /** A custom resource answers protobuf with 406 and a strategic merge patch with 415. @default false */
  readonly isCustom?: boolean
  /** Resolves when the server has nothing more to do by itself. */
  settle(): Promise<unknown>
}

const shapes = {
  yaml: 'application/yaml',
  protobuf: 'application/vnd.kubernetes.protobuf',
  table: 'application/json;as=Table;v=v1;g=meta.k8s.io',
  metadata: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
  metadataList: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
}

/** Tries every verb that discovery offers for the resource, in every patch type and encoding. */
export async function exercise(client: Client, options: ExerciseOptions): Promise<void> {
  const { path, sample, name = 'sample', isCustom = false, settle } = options
  const { list, resource, collection, plural } = await findResource(client, path)
  const selected = `${collection}?labelSelector=coverage%3Dsample`
  const one = `${collection}/${name}`
  const labels = { coverage: 'sample' }
  const object = {
    apiVersion: list.groupVersion,
    kind: resource.kind,
    ...sample,
    metadata: { name, labels },
  }
  const shared = { applied: { ...object, metadata: { name } }, isCustom }

  await succeed(client, 'POST', collection, object)
  await settle()
  await read(client, { one, selected, name, isCustom })
  const current = await succeed(client, 'GET', one)
  current.metadata.annotations = { ...current.metadata.annotations, updated: 'yes' }
  const updated = await succeed(client, 'PUT', one, current)
  assert.equal(updated.metadata.annotations?.updated, 'yes')
  await patch(client, one, shared)
  for (const subresource of ['status', 'approval', 'ephemeralcontainers', 'resize']) {
    const listed = list.resources.find(each => each.name === `${plural}/${subresource}`)
    if (listed) await writeSubresource(client, `${one}/${subresource}`, { ...shared, verbs: listed.verbs })
  }
  const scale = list.resources.find(each => each.name === `${plural}/scale`)
  if (scale) await writeScale(client, `${one}/scale`, name)
  await succeed(client, 'DELETE', `${one}?gracePeriodSeconds=0`)
  await settle()
  const next = options.name ?? 'another'
  const again = { ...object, metadata: { name: next, labels } }
  await succeed(client, 'POST', collection, again, isCustom ? {} : { accept: shapes.protobuf })
  await settle()
  const rest = resource.verbs.includes('deletecollection') ? `${selected}&` : `${collection}/${next}?`
  await succeed(client, 'DELETE', `${rest}gracePeriodSeconds=0`)
  await settle()
}

/** A resource that takes a POST and keeps nothing. */
export async function exerciseReview(client: Client, path: string, body: Sample): Promise<void> {
  const { list, resource, collection } = await findResource(client, path)
  const review = { apiVersion: list.groupVersion, kind: resource.kind, ...body }
  await succeed(client, 'POST', collection, review)
  await succeed(client, 'POST', collection, review, { accept: shapes.protobuf })
}

async function findResource(
  client: Client,
  path: string,
): Promise<{ list: ResourceList; resource: Resource; collection: string; plural: string }> {
  const groupVersion = path.slice(0, path.lastIndexOf('/'))
  const plural = path.slice(groupVersion.length + 1)
  const list = (await readResourceLists(client)).find(each => each.groupVersion === groupVersion)
  const resource = list?.resources.find(({ name }) => name === plural)
  assert.ok(list && resource, 'discovery does not list it')
  const base = groupVersion.includes('/') ? `/apis/${groupVersion}` : `/api/${groupVersion}`
  const collection = resource.namespaced ? `${base}/namespaces/default/${plural}` : `${base}/${plural}`
  return { list, resource, collection, plural }
}

export async function readResourceLists(client: Client): Promise<ResourceList[]> {
  const { groups } = await succeed(client, 'GET', '/apis')
  const versions = groups.flatMap(each => each.versions.map(({ groupVersion }) => `/apis/${groupVersion}`))
  const lists: ResourceList[] = []
  for (const url of ['/api/v1', ...versions]) {
    lists.push((await succeed(client, 'GET', url)) as unknown as ResourceList)
  }
  return lists
}

async function succeed(
  client: Client,
  method: string,
  url: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Body> {
  const answer = await client.send(method, url, body, headers)
  const problem = `${method} ${url} ${Object.values(headers)}: ${answer.status} ${answer.body.message}`
  assert.ok(answer.status >= 200 && answer.status < 300, problem)
  if (headers.accept === shapes.protobuf) assert.equal(answer.contentType, shapes.protobuf)
  return answer.body
}

interface ReadOptions {
  readonly one: string
  readonly selected: string
  readonly name: string
  readonly isCustom: boolean
}

async function read(client: Client, { one, selected, name, isCustom }: ReadOptions): Promise<void> {
  assert.equal((await succeed(client, 'GET', one)).metadata.name, name)
  const protobuf = isCustom ? [] : [shapes.protobuf]
  for (const accept of [shapes.yaml, shapes.table, shapes.metadata, ...protobuf])
    await succeed(client, 'GET', one, undefined, { accept })
  assert.equal((await succeed(client, 'GET', selected)).items.length, 1)
  const table = await succeed(client, 'GET', selected, undefined, { accept: shapes.table })
  assert.equal(table.rows.length, 1)
  for (const accept of [shapes.yaml, shapes.metadataList, ...protobuf])
    await succeed(client, 'GET', selected, undefined, { accept })
  const watch = `${selected}&watch=true&resourceVersion=0`
  const event = await client.firstEvent(watch)
  assert.deepEqual([event.type, event.object.metadata.name], ['ADDED', name])
  if (isCustom) return
  const frame = await client.firstFrame(watch, `${shapes.protobuf};stream=watch`)
  assert.equal(frame.contentType, 'application/vnd.kubernetes.protobuf;stream=watch')
  assert.ok(frame.bytes.length > 4)
}

interface PatchCase {
  readonly type: string
  readonly body: unknown
  readonly query?: string
}

interface PatchOptions {
  readonly applied: object & { readonly metadata: object }
  readonly isCustom: boolean
}

const withAnnotation = (object: PatchOptions['applied'], name: string) => ({
  ...object,
  metadata: { ...object.metadata, annotations: { [name]: 'yes' } },
})

/** Each patch type adds an annotation of its own. */
async function patch(client: Client, url: string, { applied, isCustom }: PatchOptions): Promise<void> {
  const annotation = (name: string) => ({ metadata: { annotations: { [name]: 'yes' } } })
  const cases: Record<string, PatchCase> = {
    json: {
      type: 'application/json-patch+json',
      body: [{ op: 'add', path: '/metadata/annotations/json', value: 'yes' }],
    },
    merge: { type: 'application/merge-patch+json', body: annotation('merge') },
    strategic: { type: 'application/strategic-merge-patch+json', body: annotation('strategic') },
    apply: {
      type: 'application/apply-patch+yaml',
      body: withAnnotation(applied, 'apply'),
      query: '?fieldManager=coverage&force=true',
    },
  }
  for (const [name, { type, body, query = '' }] of Object.entries(cases)) {
    const headers = { 'content-type': type }
    if (name === 'strategic' && isCustom) {
      assert.equal((await client.send('PATCH', url, body, headers)).status, 415)
      continue
    }
    const patched = await succeed(client, 'PATCH', `${url}${query}`, body, headers)
    assert.equal(patched.metadata.annotations?.[name], 'yes', `patch ${name}`)
  }
}

/** A subresource whose body is the object: what does not belong to it is left as it is, whatever the patch says. */
async function writeSubresource(
  client: Client,
  url: string,
  { applied, isCustom, verbs }: PatchOptions & { readonly verbs: readonly string[] },
): Promise<void> {
  if (verbs.includes('get')) {
    await succeed(client, 'PUT', url, await succeed(client, 'GET', url))
    if (!isCustom) await succeed(client, 'GET', url, undefined, { accept: shapes.protobuf })
  }
  const { apiVersion, kind, metadata } = applied as Record<string, unknown>
  const body = { metadata: { annotations: { status: 'yes' } } }
  const patches: Record<string, unknown> = {
    'json-patch+json': [],
    'merge-patch+json': body,
    ...(!isCustom && { 'strategic-merge-patch+json': body }),
  }
  for (const [type, patchBody] of Object.entries(patches))
    await succeed(client, 'PATCH', url, patchBody, { 'content-type': `application/${type}` })
  await succeed(
    client,
    'PATCH',
    `${url}?fieldManager=coverage&force=true`,
    { apiVersion, kind, metadata },
    {
      'content-type': 'application/apply-patch+yaml',
    },
  )
}

async function writeScale(client: Client, url: string, name: string): Promise<void> {
  await succeed(client, 'PUT', url, await succeed(client, 'GET', url))
  await succeed(client, 'GET', url, undefined, { accept: shapes.protobuf })
  const body = { spec: { replicas: 2 } }
  const patches: Record<string, unknown> = {
    'json-patch+json': [{ op: 'add', path: '/spec/replicas', value: 2 }],
    'merge-patch+json': body,
    'strategic-merge-patch+json': body,
  }
  for (const [type, patchBody] of Object.entries(patches))
    await succeed(client, 'PATCH', url, patchBody, { 'content-type': `application/${type}` })
  const applied = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name }, ...body }
  await succeed(client, 'PATCH', `${url}?fieldManager=coverage&force=true`, applied, {
    'content-type': 'application/apply-patch+yaml',
  })
}
