import type { CreateOf, Kind } from '@coxswain/apimachinery/kinds'
import type { DeepReadonly, ObjectMeta } from '@coxswain/apimachinery/meta'
import type { ObjectClient, Readable, UpdateOf } from './client.ts'
import { ClientError } from './errors.ts'
import { mergePatchBetween } from './patch-from.ts'

/** The object that has to exist: its name and namespace, and its initial content. */
export interface ObjectTarget<K extends Kind> {
  readonly kind: K
  readonly object: CreateOf<K>
}

/** Changes an object in place: the one on the server, or the one that is to be created. */
export type Mutate<K extends Kind> = (object: CreateOf<K>) => void | Promise<void>

/** What was done, with controller-runtime's OperationResults. */
export type OperationResult = 'unchanged' | 'created' | 'updated' | 'updatedStatus' | 'updatedStatusOnly'

/** The result of {@link createOrUpdate} and its siblings. */
export interface Operation<K extends Kind> {
  readonly result: OperationResult
  /** As the server has it now. */
  readonly object: Readable<K>
}

/**
 * Creates the object, or reads it, calls `mutate` and replaces it when that changed anything. A conflict with another
 * writer is thrown: see `retryOnConflict`.
 * @throws ClientError `BadKey` when `mutate` changes the name or the namespace
 */
export async function createOrUpdate<K extends Kind>(
  client: Pick<ObjectClient, 'get' | 'create' | 'update'>,
  target: ObjectTarget<K>,
  mutate: Mutate<K>,
): Promise<Operation<K>> {
  const { kind } = target
  const draft = await prepare(client, target, mutate)
  if (!draft.before) return { result: 'created', object: await create(client, target, draft) }
  if (!mergePatchBetween(draft.before, draft.after)) return { result: 'unchanged', object: draft.before }
  return { result: 'updated', object: await client.update(kind, draft.after as UpdateOf<K>) }
}

/**
 * Like {@link createOrUpdate}, but sends only what `mutate` changed, as a merge patch: no conflicts with other writers, and
 * lists are replaced as a whole. A changed status is sent to the `status` subresource.
 */
export async function createOrPatch<K extends Kind>(
  client: Pick<ObjectClient, 'get' | 'create' | 'patch'>,
  target: ObjectTarget<K>,
  mutate: Mutate<K>,
): Promise<Operation<K>> {
  const { kind } = target
  const draft = await prepare(client, target, mutate)
  const { key, before } = draft
  if (!before) return { result: 'created', object: await create(client, target, draft) }
  const { status, ...rest } = mergePatchBetween(before, draft.after) ?? {}
  const hasRest = Object.keys(rest).length > 0
  let object: Readable<K> = before
  if (hasRest) object = await client.patch(kind, key, rest, { type: 'merge' })
  if (status === undefined) return { result: hasRest ? 'updated' : 'unchanged', object }
  object = await client.patch(kind, key, { status }, { type: 'merge', subresource: 'status' })
  return { result: hasRest ? 'updatedStatus' : 'updatedStatusOnly', object }
}

interface Draft<K extends Kind> {
  readonly key: { readonly name: string; readonly namespace?: string }
  readonly before: Readable<K> | undefined
  readonly after: object
}

async function prepare<K extends Kind>(
  client: Pick<ObjectClient, 'get'>,
  { kind, object }: ObjectTarget<K>,
  mutate: Mutate<K>,
): Promise<Draft<K>> {
  const { name = '', namespace } = metadataOfInput(object)
  const key = { name, ...(namespace !== undefined && { namespace }) }
  const before = await client.get(kind, key)
  const after = structuredClone(before ?? object) as object
  await mutate(after as CreateOf<K>)
  const changed = metadataOfInput(after)
  if (changed.name !== name || changed.namespace !== namespace)
    throw new ClientError('BadKey', 'mutate function cannot mutate object name and/or object namespace')
  return { key, before, after }
}

function create<K extends Kind>(
  client: Pick<ObjectClient, 'create'>,
  { kind }: ObjectTarget<K>,
  { after }: Draft<K>,
): Promise<Readable<K>> {
  return client.create(kind, after as DeepReadonly<CreateOf<K>>)
}

function metadataOfInput(object: unknown): ObjectMeta {
  return (object as { metadata?: ObjectMeta }).metadata ?? {}
}
