import { ConfigMap } from '@coxswain/api/core/v1'
import { isConflict, isForbidden, isStatusError } from '@coxswain/apimachinery/status'
import { TerminalError } from '@coxswain/runtime'
import {
  apply,
  bug,
  childOf,
  Database,
  keepOnly,
  keyOf,
  membersOf,
  type PlantedBug,
  setStatus,
} from './database.ts'

const tenant = (database: Database) => childOf(database, 'tenant', { version: database.spec.version })

/** Errors that are swallowed, or that end the work. */
export const errorBugs: readonly PlantedBug[] = [
  bug('zookeeper', 'a conflict that is swallowed', {
    wrong:
      () =>
      async (database, { client }) => {
        await setStatus(client, database, { version: database.spec.version }).catch(error => {
          if (!isConflict(error)) throw error
        })
      },
    right:
      () =>
      async (database, { client }) =>
        setStatus(client, database, { version: database.spec.version }),
  }),
  bug('minio', 'a server error that ends the work', {
    wrong:
      () =>
      async (database, { client }) => {
        await apply(client, tenant(database)).catch(error => {
          throw new TerminalError('the tenant cannot be written', { cause: error })
        })
      },
    right:
      () =>
      async (database, { client }) =>
        void (await apply(client, tenant(database))),
  }),
  bug('knative', 'an error that is logged and forgotten', {
    wrong:
      () =>
      async (database, { client }) => {
        await apply(client, tenant(database)).catch(() => undefined)
      },
    right:
      () =>
      async (database, { client }) =>
        void (await apply(client, tenant(database))),
  }),
  bug('pulsar', 'a quota that is taken for good', {
    wrong:
      () =>
      async (database, { client }) => {
        await apply(client, tenant(database)).catch(error => {
          if (isForbidden(error)) throw new TerminalError('forbidden', { cause: error })
          throw error
        })
      },
    right:
      () =>
      async (database, { client }) =>
        void (await apply(client, tenant(database))),
  }),
  bug('tidb', 'a loop that ends at the first error', {
    wrong: () => {
      const done = new Set<string>()
      return async (database, { client, key }) => {
        const id = `${key.namespace}/${key.name}/${database.metadata.generation}`
        if (done.has(id)) return
        done.add(id)
        await keepOnly(client, database, membersOf(database))
      }
    },
    right:
      () =>
      async (database, { client }) =>
        keepOnly(client, database, membersOf(database)),
  }),
  bug('couchbase', 'an update that overwrites what it has not seen', {
    wrong:
      () =>
      async (database, { client }) => {
        const key = keyOf(database, `${database.metadata.name}-config`)
        const present = await client.get(ConfigMap, key)
        const child = childOf(database, 'config', { version: database.spec.version })
        if (!present) await client.create(ConfigMap, child)
        else if (present.data?.version !== database.spec.version)
          await client.update(ConfigMap, child as never)
      },
    right:
      () =>
      async (database, { client }) =>
        void (await apply(client, childOf(database, 'config', { version: database.spec.version }))),
  }),
  bug('solr', 'a cached object that is changed in place', {
    wrong:
      () =>
      async (database, { client }) => {
        const changed = database as { spec: { version: string } }
        changed.spec.version = database.spec.version.trim()
        await apply(client, tenant(database))
      },
    right:
      () =>
      async (database, { client }) =>
        void (await apply(client, tenant(database))),
  }),
  bug('flink', 'a retry of its own with an old object', {
    wrong:
      () =>
      async (database, { client }) => {
        if (database.status?.version === database.spec.version) return
        for (let tries = 0; tries < 3; tries++) {
          try {
            return void (await client.updateStatus(Database.v1, {
              ...database,
              status: { ...database.status, version: database.spec.version },
            }))
          } catch (error) {
            if (!isStatusError(error)) throw error
          }
        }
      },
    right:
      () =>
      async (database, { client }) =>
        setStatus(client, database, { version: database.spec.version }),
  }),
]
