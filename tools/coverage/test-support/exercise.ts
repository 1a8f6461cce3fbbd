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
}

export interface Answer {
  readonly status: number
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
  /** A custom resource answers it with 415. @default true */
  readonly strategicMergePatch?: boolean
}

const shapes = {
  yaml: 'application/yaml',
  /** As client-go asks: protobuf if the server has it. */
  protobuf: 'application/vnd.kubernetes.protobuf,application/json',
  table: 'application/json;as=Table;v=v1;g=meta.k8s.io',
  metadata: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
  metadataList: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
}

/** Tries every verb that discovery offers for the resource, in every patch type and encoding. */
export async function exercise(client: Client, options: ExerciseOptions): Promise<void> {
  const { path, sample } = options
  const groupVersion = path.slice(0, path.lastIndexOf('/'))
  const plural = path.slice(groupVersion.length + 1)
  const list = (await readResourceLists(client)).find(each => each.groupVersion === groupVersion)
  const resource = list?.resources.find(({ name }) => name === plural)
  assert.ok(list && resource, 'discovery does not list it')
  const base = groupVersion.includes('/') ? `/apis/${groupVersion}` : `/api/${groupVersion}`
  const collection = resource.namespaced ? `${base}/namespaces/default/${plural}` : `${base}/${plural}`
  const selected = `${collection}?labelSelector=coverage%3Dsample`
  const one = `${collection}/sample`
  const { kind } = resource
  const labels = { coverage: 'sample' }
  const object = (name: string) => ({ apiVersion: groupVersion, kind, metadata: { name, labels }, ...sample })

  await succeed(client, 'POST', collection, object('sample'))
  await read(client, one, selected)
  const current = await succeed(client, 'GET', one)
  current.metadata.annotations = { updated: 'yes' }
  const updated = await succeed(client, 'PUT', one, current)
  assert.equal(updated.metadata.annotations?.updated, 'yes')
  await patch(client, one, {
    applied: { ...object('sample'), metadata: { name: 'sample', annotations: { apply: 'yes' } } },
    strategic: options.strategicMergePatch ?? true,
  })
  const status = list.resources.find(({ name }) => name === `${plural}/status`)
  if (status) await writeStatus(client, `${one}/status`)
  await succeed(client, 'DELETE', `${one}?gracePeriodSeconds=0`)
  if (resource.verbs.includes('deletecollection')) {
    await succeed(client, 'POST', collection, object('another'))
    await succeed(client, 'DELETE', `${selected}&gracePeriodSeconds=0`)
  }
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
  return answer.body
}

async function read(client: Client, one: string, selected: string): Promise<void> {
  assert.equal((await succeed(client, 'GET', one)).metadata.name, 'sample')
  for (const accept of [shapes.yaml, shapes.protobuf, shapes.table, shapes.metadata]) {
    await succeed(client, 'GET', one, undefined, { accept })
  }
  assert.equal((await succeed(client, 'GET', selected)).items.length, 1)
  const table = await succeed(client, 'GET', selected, undefined, { accept: shapes.table })
  assert.equal(table.rows.length, 1)
  for (const accept of [shapes.yaml, shapes.protobuf, shapes.metadataList]) {
    await succeed(client, 'GET', selected, undefined, { accept })
  }
  const event = await client.firstEvent(`${selected}&watch=true&resourceVersion=0`)
  assert.deepEqual([event.type, event.object.metadata.name], ['ADDED', 'sample'])
}

interface PatchCase {
  readonly type: string
  readonly body: unknown
  readonly query?: string
}

/** Each patch type adds an annotation of its own. */
async function patch(
  client: Client,
  url: string,
  options: { applied: unknown; strategic: boolean },
): Promise<void> {
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
      body: options.applied,
      query: '?fieldManager=coverage&force=true',
    },
  }
  for (const [name, { type, body, query = '' }] of Object.entries(cases)) {
    const headers = { 'content-type': type }
    if (name === 'strategic' && !options.strategic) {
      assert.equal((await client.send('PATCH', url, body, headers)).status, 415)
      continue
    }
    const patched = await succeed(client, 'PATCH', `${url}${query}`, body, headers)
    assert.equal(patched.metadata.annotations?.[name], 'yes', `patch ${name}`)
  }
}

async function writeStatus(client: Client, url: string): Promise<void> {
  const headers = { 'content-type': 'application/merge-patch+json' }
  await succeed(client, 'PUT', url, await succeed(client, 'GET', url))
  await succeed(client, 'PATCH', url, { metadata: { annotations: { status: 'yes' } } }, headers)
}
