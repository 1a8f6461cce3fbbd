import { ConfigMap } from '@coxswain/api/core/v1'
import { defineKind, type KindOf, s } from '@coxswain/apimachinery/kinds'
import { type DeepReadonly, newControllerReference, type ObjectKey } from '@coxswain/apimachinery/meta'
import { isNotFound } from '@coxswain/apimachinery/status'
import { defineOperator, type Operator, type OperatorClient, type ReconcileContext } from '@coxswain/runtime'

/** A database with members, each of them a ConfigMap: enough to get everything wrong that real operators get wrong. */
export const Database = defineKind({
  group: 'planted.example.com',
  kind: 'Database',
  versions: {
    v1: {
      spec: s.object({
        members: s.int32().minimum(0).maximum(5),
        version: s.string(),
        mode: s.enumOf('Single', 'Cluster').optional(),
        users: s.list(s.string()).optional(),
        settings: s.map(s.string()).optional(),
      }),
      status: s.object({
        observedGeneration: s.int64().optional(),
        volume: s.string().optional(),
        members: s.int32().optional(),
        version: s.string().optional(),
        phase: s.string().optional(),
      }),
    },
  },
})
export type Database = DeepReadonly<KindOf<typeof Database.v1>>

/** An operator with a bug of a class that was found in real operators, and its right twin. */
export interface PlantedBug {
  readonly name: string
  readonly wrong: Operator
  readonly right: Operator
}

export interface WorkContext extends Pick<ReconcileContext, 'client' | 'key' | 'signal' | 'clock'> {
  readonly client: OperatorClient
}

/** What is done for a database. */
export type Work = (database: Database, context: WorkContext) => Promise<void>

export interface OperatorParts {
  readonly reconcile: Work
  readonly finalize?: Work
  /** What is done when there is no such database any more. */
  readonly onMissing?: (context: WorkContext) => Promise<void>
}

/** An operator of databases that owns ConfigMaps. `create` is called for each process, so that state in memory ends with it. */
export function operatorOf(name: string, create: () => Work | OperatorParts): Operator {
  return defineOperator(name, operator => {
    const made = create()
    const { reconcile, finalize, onMissing }: OperatorParts =
      typeof made === 'function' ? { reconcile: made } : made
    const controller = operator.controller('database').for(Database.v1).owns(ConfigMap)
    if (finalize)
      controller.finalizer('planted.example.com/clean-up', async context => {
        const database = await context.client.get(Database.v1, context.key)
        if (database) await finalize(database, context)
      })
    controller.reconcile(async context => {
      const database = await context.client.get(Database.v1, context.key)
      if (!database) return void (await onMissing?.(context))
      if (database.metadata.deletionTimestamp) return
      await reconcile(database, context)
    })
  })
}

/** A bug as its two halves, under the name of the operator that it was found in. */
export function bug(
  operator: string,
  name: string,
  {
    wrong,
    right,
  }: { readonly wrong: () => Work | OperatorParts; readonly right: () => Work | OperatorParts },
): PlantedBug {
  return {
    name: `${operator}: ${name}`,
    wrong: operatorOf(operator, wrong),
    right: operatorOf(operator, right),
  }
}

export const keyOf = ({ metadata: { namespace = 'default' } }: Database, name: string): ObjectKey => ({
  namespace,
  name,
})

/** `a-0`: the name of a child. */
export const nameOf = ({ metadata }: Database, part: string | number): string => `${metadata.name}-${part}`

export type Child = ReturnType<typeof childOf>

/** A child of the database, by name. */
export const childOf = (database: Database, part: string | number, data: Record<string, string> = {}) => ({
  metadata: {
    ...keyOf(database, nameOf(database, part)),
    labels: { database: database.metadata.name },
    ownerReferences: [newControllerReference(database)],
  },
  data,
})

export const withoutOwner = (child: Child): Child => ({
  ...child,
  metadata: { ...child.metadata, ownerReferences: [] },
})

export const apply = (client: OperatorClient, child: Child) =>
  client.apply(ConfigMap, child, { fieldManager: 'planted', force: true })

export async function remove(client: OperatorClient, key: ObjectKey): Promise<void> {
  await client.delete(ConfigMap, key).catch(ignoreMissing)
}

/** The ConfigMaps of a database, in its namespace. */
export const childrenOf = async (client: OperatorClient, { metadata }: Database) =>
  (
    await client.list(ConfigMap, {
      namespace: metadata.namespace ?? 'default',
      labelSelector: `database=${metadata.name}`,
    })
  ).items

/** Makes the children be exactly these. */
export async function keepOnly(
  client: OperatorClient,
  database: Database,
  wanted: readonly Child[],
): Promise<void> {
  for (const child of wanted) await apply(client, child)
  const names = new Set(wanted.map(({ metadata }) => metadata.name))
  for (const { metadata } of await childrenOf(client, database))
    if (!names.has(metadata.name)) await remove(client, keyOf(database, metadata.name))
}

export const membersOf = (database: Database): Child[] =>
  Array.from({ length: database.spec.members }, (_, index) =>
    childOf(database, index, { version: database.spec.version }),
  )

export async function setStatus(
  client: OperatorClient,
  database: Database,
  status: NonNullable<Database['status']>,
): Promise<void> {
  const next = { ...database.status, ...status }
  if (JSON.stringify(next) === JSON.stringify(database.status ?? {})) return
  await client.updateStatus(Database.v1, { ...database, status: next })
}

export function ignoreMissing(error: unknown): void {
  if (!isNotFound(error)) throw error
}
