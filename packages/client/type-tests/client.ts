/** What the compiler must accept and refuse; never run. */
import { Deployment } from '@coxswain/api/apps/v1'
import type { Kind } from '@coxswain/apimachinery/kinds'
import type { ApiList, ApiObject, DeepReadonly, ObjectMeta } from '@coxswain/apimachinery/meta'
import type { Client } from '../src/index.ts'
import { kindFor, metadataOf } from '../src/index.ts'

interface At extends ApiObject {
  spec: { schedule: string }
  status?: { phase: 'PENDING' | 'DONE' }
}
interface AtInput {
  metadata: ObjectMeta
  spec: { schedule: string }
}
interface AtApply {
  metadata: ObjectMeta
  spec?: { schedule?: string }
}

declare const client: Client
declare const At: Kind<At, AtInput, AtApply>
declare const cached: DeepReadonly<At>
const key = { namespace: 'ns', name: 'a' }

export async function reads(): Promise<void> {
  const at = await client.get(At, key)
  // @ts-expect-error a miss is a value
  at.spec
  at?.spec.schedule.toUpperCase()
  // @ts-expect-error no such field
  at?.spec.nothing
  const list: ApiList<At> = await client.list(At)
  for await (const event of client.watch(At)) {
    // @ts-expect-error a bookmark has no spec
    event.object.spec
    if (event.type !== 'BOOKMARK') event.object.spec.schedule satisfies string
  }
  for await (const item of client.listAll(At)) item.status?.phase satisfies 'PENDING' | 'DONE' | undefined
  const partial = await client.get(metadataOf(At), key)
  // @ts-expect-error metadata only
  partial?.spec
  list.items.length satisfies number
}

export async function writes(): Promise<void> {
  const made: At = await client.create(At, {
    metadata: { name: 'a', namespace: 'ns' },
    spec: { schedule: '' },
  })
  // @ts-expect-error spec is required to create
  await client.create(At, { metadata: {} })
  await client.apply(At, { metadata: { name: 'a' } })
  await client.update(At, made)
  await client.update(At, cached)
  await client.updateStatus(At, { ...made, status: { phase: 'DONE' } })
  // @ts-expect-error no such phase
  await client.updateStatus(At, { ...made, status: { phase: 'GONE' } })
  // @ts-expect-error a patch type that does not exist
  await client.patch(At, key, {}, { type: 'apply' })
  const deleted = await client.delete(At, key)
  deleted?.object?.spec.schedule satisfies string | undefined
  // @ts-expect-error nothing to create from metadata
  await client.create(metadataOf(At), { metadata: {} })
}

/** Apply-configuration types: every field may be left out, none may be made up. */
export async function applies(): Promise<void> {
  const metadata = { name: 'a', namespace: 'ns' }
  await client.apply(Deployment, { metadata, spec: { replicas: 3 } })
  await client.apply(Deployment, {
    metadata,
    spec: { template: { spec: { containers: [{ name: 'c', image: 'i' }] } } },
  })
  await client.applyStatus(Deployment, { metadata, status: { replicas: 1 } })
  // @ts-expect-error no such field
  await client.apply(Deployment, { metadata, spec: { replica: 3 } })
  // @ts-expect-error not a number
  await client.apply(Deployment, { metadata, spec: { replicas: 'three' } })
  // @ts-expect-error to create one, a selector and a template are needed
  await client.create(Deployment, { metadata, spec: { replicas: 3 } })
}

export async function untyped(): Promise<void> {
  const Thing = kindFor({ group: 'x', version: 'v1', kind: 'Thing', resource: 'things', namespaced: true })
  const thing = await client.get(Thing, key)
  thing?.spec satisfies unknown
  await client.create(Thing, { metadata: { name: 'a' }, anything: [1] })
  if (thing) await client.update(Thing, thing)
}

/** As a library that is generic over kinds uses it. */
export async function generic<K extends Kind>(kind: K): Promise<void> {
  const object = await client.get(kind, key)
  if (object) await client.update(kind, object)
}
