import { ConfigMap } from '@coxswain/api/core/v1'
import { defineKind, type KindOf, s } from '@coxswain/apimachinery/kinds'
import { type DeepReadonly, newControllerReference, type ObjectKey } from '@coxswain/apimachinery/meta'
import { isAlreadyExists, isConflict, isNotFound } from '@coxswain/apimachinery/status'
import { defineOperator, type Operator, type OperatorClient, TerminalError } from '@coxswain/runtime'
import type { Scenario } from '../world/stage.ts'

/** A database with members, each of them a ConfigMap: enough to get everything wrong that real operators get wrong. */
export const Database = defineKind({
  group: 'planted.example.com',
  kind: 'Database',
  versions: {
    v1: {
      spec: s.object({ members: s.int32().minimum(0).maximum(5), version: s.string() }),
      status: s.object({
        volume: s.string().optional(),
        members: s.int32().optional(),
        version: s.string().optional(),
        previous: s.string().optional(),
      }),
    },
  },
})
type Database = DeepReadonly<KindOf<typeof Database.v1>>

/** An operator with a bug of a class that was found in real operators, and its right twin. */
export interface PlantedBug {
  readonly name: string
  readonly wrong: Operator
  readonly right: Operator
}

type Work = (database: Database, client: OperatorClient, key: ObjectKey) => Promise<void>

function operatorOf(name: string, createWork: () => Work, finalizer?: Work): Operator {
  return defineOperator(name, operator => {
    const work = createWork()
    const controller = operator.controller('database').for(Database.v1).owns(ConfigMap)
    if (finalizer)
      controller.finalizer('planted.example.com/clean-up', async ({ key, client }) => {
        const database = await client.get(Database.v1, key)
        if (database) await finalizer(database, client, key)
      })
    controller.reconcile(async ({ key, client }) => {
      const database = await client.get(Database.v1, key)
      if (!database || database.metadata.deletionTimestamp) return
      await work(database, client, key)
    })
  })
}

const keyOf = ({ metadata: { namespace = 'default' } }: Database, name: string): ObjectKey => ({
  namespace,
  name,
})

/** A child of the database, by name. */
const childOf = (database: Database, name: string, data: Record<string, string> = {}) => ({
  metadata: {
    ...keyOf(database, name),
    labels: { database: database.metadata.name },
    ownerReferences: [newControllerReference(database)],
  },
  data,
})

const apply = (client: OperatorClient, child: ReturnType<typeof childOf>) =>
  client.apply(ConfigMap, child, { fieldManager: 'planted', force: true })

const setStatus = async (
  client: OperatorClient,
  database: Database,
  status: NonNullable<Database['status']>,
) => {
  const next = { ...database.status, ...status }
  if (JSON.stringify(next) === JSON.stringify(database.status ?? {})) return
  await client.updateStatus(Database.v1, { ...database, status: next })
}

/** What users do: one database is changed several times, another one is created and deleted. */
export const databaseScenario: Scenario = async ({ client, clock }) => {
  const key = { namespace: 'default', name: 'db' }
  const short = { namespace: 'default', name: 'short' }
  await client.create(Database.v1, { metadata: key, spec: { members: 1, version: 'a' } })
  await client.create(Database.v1, { metadata: short, spec: { members: 1, version: 'a' } })
  const changes = [{ members: 3 }, { members: 1 }, { version: 'b' }, { version: 'c', members: 2 }]
  for (const change of changes) {
    await clock.sleep(20_000)
    await client.patch(Database.v1, key, { spec: change }, { type: 'merge' })
  }
  await client.delete(Database.v1, short)
}

export const plantedBugs: readonly PlantedBug[] = [
  {
    // The volume is remembered only in the status that is written after it was created.
    name: 'a generated name that a crash forgets',
    wrong: operatorOf('mongodb', () => async (database, client) => {
      if (database.status?.volume) return
      const { metadata } = childOf(database, '')
      const { name: _, ...rest } = metadata
      const volume = await client.create(ConfigMap, {
        metadata: { ...rest, generateName: `volume-${database.metadata.name}-` },
      })
      await setStatus(client, database, { volume: volume.metadata.name })
    }),
    right: operatorOf('mongodb', () => async (database, client) => {
      const name = `volume-${database.metadata.name}`
      await apply(client, childOf(database, name))
      await setStatus(client, database, { volume: name })
    }),
  },
  {
    // A create whose response was lost has succeeded: the second try says so.
    name: 'an existing object is a fatal error',
    wrong: operatorOf('cassandra', () => async (database, client) => {
      if (database.status?.volume) return
      try {
        await client.create(ConfigMap, childOf(database, `volume-${database.metadata.name}`))
      } catch (error) {
        if (isAlreadyExists(error)) throw new TerminalError('the volume exists already', { cause: error })
        throw error
      }
      await setStatus(client, database, { volume: `volume-${database.metadata.name}` })
    }),
    right: operatorOf('cassandra', () => async (database, client) => {
      if (database.status?.volume) return
      try {
        await client.create(ConfigMap, childOf(database, `volume-${database.metadata.name}`))
      } catch (error) {
        if (!isAlreadyExists(error)) throw error
      }
      await setStatus(client, database, { volume: `volume-${database.metadata.name}` })
    }),
  },
  {
    name: 'a conflict that is swallowed',
    wrong: operatorOf('zookeeper', () => async (database, client) => {
      try {
        await setStatus(client, database, { version: database.spec.version })
      } catch (error) {
        if (!isConflict(error)) throw error
      }
    }),
    right: operatorOf('zookeeper', () => async (database, client) => {
      await setStatus(client, database, { version: database.spec.version })
    }),
  },
  {
    // The new object is there and the old one is not yet recorded for deletion when the process dies.
    name: 'a replacement that is recorded after it was made',
    wrong: operatorOf('rabbitmq', () => async (database, client) => {
      const { version } = database.spec
      const present = database.status?.version
      if (present === version) return
      await apply(client, childOf(database, `${database.metadata.name}-release-${version}`))
      await setStatus(client, database, { version })
      if (present !== undefined) {
        const old = keyOf(database, `${database.metadata.name}-release-${present}`)
        await client.delete(ConfigMap, old).catch(ignoreMissing)
      }
    }),
    right: operatorOf('rabbitmq', () => async (database, client) => {
      const { version } = database.spec
      await apply(client, childOf(database, `${database.metadata.name}-release-${version}`))
      const { items } = await client.list(ConfigMap, { labelSelector: `database=${database.metadata.name}` })
      for (const { metadata } of items)
        if (
          metadata.name.startsWith(`${database.metadata.name}-release-`) &&
          metadata.name !== `${database.metadata.name}-release-${version}`
        )
          await client.delete(ConfigMap, keyOf(database, metadata.name)).catch(ignoreMissing)
      await setStatus(client, database, { version })
    }),
  },
  {
    // Clean-up is ordered wrongly: what is outside of the owner's reach is forgotten when the process dies in between.
    name: 'a finalizer that lets go first',
    wrong: operatorOf(
      'yugabyte',
      () => async (database, client) => {
        await apply(client, withoutOwner(childOf(database, `account-${database.metadata.name}`)))
      },
      async (database, client) => {
        const account = keyOf(database, `account-${database.metadata.name}`)
        const found = await client.get(ConfigMap, account)
        if (found?.data?.deleting === 'true') return
        await client.patch(ConfigMap, account, { data: { deleting: 'true' } }, { type: 'merge' })
        await client.delete(ConfigMap, account)
      },
    ),
    right: operatorOf(
      'yugabyte',
      () => async (database, client) => {
        await apply(client, withoutOwner(childOf(database, `account-${database.metadata.name}`)))
      },
      async (database, client) => {
        await client
          .delete(ConfigMap, keyOf(database, `account-${database.metadata.name}`))
          .catch(ignoreMissing)
      },
    ),
  },
  {
    // Writes the time, or a counter, each time it looks.
    name: 'a status that counts reconciles',
    wrong: operatorOf('casskop', () => async (database, client) => {
      await client.updateStatus(Database.v1, {
        ...database,
        status: { members: (database.status?.members ?? 0) + 1 },
      })
    }),
    right: operatorOf('casskop', () => async (database, client) => {
      await setStatus(client, database, { members: database.spec.members })
    }),
  },
  {
    // Acts on the change it saw, not on the state: a change that it did not see never happens.
    name: 'an upgrade step that is only done when it is seen',
    wrong: operatorOf('k8ssandra', () => async (database, client) => {
      const { version } = database.spec
      if (database.status?.version === version) return
      await apply(client, childOf(database, `${database.metadata.name}-to-${version}`))
      await setStatus(client, database, { version, previous: database.status?.version ?? 'none' })
    }),
    right: operatorOf('k8ssandra', () => async (database, client) => {
      const { version } = database.spec
      await apply(client, childOf(database, `migration-${database.metadata.name}`, { to: version }))
      await setStatus(client, database, { version })
    }),
  },
  {
    name: 'a server error that ends the work',
    wrong: operatorOf('minio', () => async (database, client) => {
      await apply(
        client,
        childOf(database, `tenant-${database.metadata.name}`, { version: database.spec.version }),
      ).catch(error => {
        throw new TerminalError('the tenant cannot be written', { cause: error })
      })
    }),
    right: operatorOf('minio', () => async (database, client) => {
      await apply(
        client,
        childOf(database, `tenant-${database.metadata.name}`, { version: database.spec.version }),
      )
    }),
  },
]

const withoutOwner = (child: ReturnType<typeof childOf>) => ({
  ...child,
  metadata: { ...child.metadata, ownerReferences: [] },
})

function ignoreMissing(error: unknown): void {
  if (!isNotFound(error)) throw error
}
