import { ConfigMap } from '@coxswain/api/core/v1'
import { isAlreadyExists } from '@coxswain/apimachinery/status'
import { TerminalError } from '@coxswain/runtime'
import {
  apply,
  bug,
  childOf,
  childrenOf,
  Database,
  keepOnly,
  keyOf,
  membersOf,
  nameOf,
  type PlantedBug,
  remove,
  setStatus,
  withoutOwner,
} from './database.ts'

/** Work that a crash interrupts: what was begun is forgotten, done twice, or taken for done. */
export const crashBugs: readonly PlantedBug[] = [
  bug('mongodb', 'a generated name that a crash forgets', {
    wrong:
      () =>
      async (database, { client }) => {
        if (database.status?.volume) return
        const { name: _, ...metadata } = childOf(database, '').metadata
        const volume = await client.create(ConfigMap, {
          metadata: { ...metadata, generateName: nameOf(database, 'volume-') },
        })
        await setStatus(client, database, { volume: volume.metadata.name })
      },
    right:
      () =>
      async (database, { client }) => {
        await apply(client, childOf(database, 'volume'))
        await setStatus(client, database, { volume: nameOf(database, 'volume') })
      },
  }),
  bug('cassandra', 'an existing object is a fatal error', {
    wrong:
      () =>
      async (database, { client }) => {
        if (database.status?.volume) return
        try {
          await client.create(ConfigMap, childOf(database, 'volume'))
        } catch (error) {
          if (isAlreadyExists(error)) throw new TerminalError('the volume exists already', { cause: error })
          throw error
        }
        await setStatus(client, database, { volume: nameOf(database, 'volume') })
      },
    right:
      () =>
      async (database, { client }) => {
        // Not guarded by the status: a volume of the same name may belong to a deleted namesake, and go with it.
        await apply(client, childOf(database, 'volume'))
        await setStatus(client, database, { volume: nameOf(database, 'volume') })
      },
  }),
  bug('rabbitmq', 'a replacement that is recorded after it was made', {
    wrong:
      () =>
      async (database, { client }) => {
        const { version } = database.spec
        const present = database.status?.version
        if (present === version) return
        await apply(client, childOf(database, `release-${version}`))
        await setStatus(client, database, { version })
        if (present !== undefined)
          await remove(client, keyOf(database, nameOf(database, `release-${present}`)))
      },
    right:
      () =>
      async (database, { client }) => {
        const { version } = database.spec
        await keepOnly(client, database, [childOf(database, `release-${version}`)])
        await setStatus(client, database, { version })
      },
  }),
  bug('yugabyte', 'a clean-up that takes the first step for the last', {
    wrong: () => ({
      reconcile: async (database, { client }) =>
        void (await apply(client, withoutOwner(childOf(database, 'account')))),
      finalize: async (database, { client }) => {
        const account = keyOf(database, nameOf(database, 'account'))
        const found = await client.get(ConfigMap, account)
        if (found?.data?.deleting === 'true') return
        await client.patch(ConfigMap, account, { data: { deleting: 'true' } }, { type: 'merge' })
        await client.delete(ConfigMap, account)
      },
    }),
    right: () => ({
      reconcile: async (database, { client }) =>
        void (await apply(client, withoutOwner(childOf(database, 'account')))),
      finalize: async (database, { client }) => remove(client, keyOf(database, nameOf(database, 'account'))),
    }),
  }),
  bug('zookeeper', 'a status that is written before the work', {
    wrong:
      () =>
      async (database, { client }) => {
        if (database.status?.members === database.spec.members) return
        await setStatus(client, database, { members: database.spec.members })
        await keepOnly(client, database, membersOf(database))
      },
    right:
      () =>
      async (database, { client }) => {
        await keepOnly(client, database, membersOf(database))
        await setStatus(client, database, { members: database.spec.members })
      },
  }),
  bug('elastic', 'two objects of which only the first is looked for', {
    wrong:
      () =>
      async (database, { client }) => {
        if (await client.get(ConfigMap, keyOf(database, nameOf(database, 'secret')))) return
        await apply(client, childOf(database, 'secret'))
        await apply(client, childOf(database, 'config'))
      },
    right:
      () =>
      async (database, { client }) => {
        await apply(client, childOf(database, 'secret'))
        await apply(client, childOf(database, 'config'))
      },
  }),
  bug('strimzi', 'a phase in progress that is not continued', {
    wrong:
      () =>
      async (database, { client }) => {
        if (database.status?.phase === 'Rolling' || database.status?.version === database.spec.version) return
        await setStatus(client, database, { phase: 'Rolling' })
        await apply(client, childOf(database, 'broker', { version: database.spec.version }))
        const fresh = await client.get(Database.v1, keyOf(database, database.metadata.name))
        if (fresh) await setStatus(client, fresh, { phase: 'Ready', version: database.spec.version })
      },
    right:
      () =>
      async (database, { client }) => {
        await apply(client, childOf(database, 'broker', { version: database.spec.version }))
        await setStatus(client, database, { phase: 'Ready', version: database.spec.version })
      },
  }),
  bug('nifikop', 'a count that is taken from the status', {
    wrong:
      () =>
      async (database, { client }) => {
        const present = database.status?.members ?? 0
        if (present === database.spec.members) return
        if (present < database.spec.members) await client.create(ConfigMap, childOf(database, present))
        else await client.delete(ConfigMap, keyOf(database, nameOf(database, present - 1)))
        await setStatus(client, database, {
          members: present < database.spec.members ? present + 1 : present - 1,
        })
      },
    right:
      () =>
      async (database, { client }) => {
        await keepOnly(client, database, membersOf(database))
        await setStatus(client, database, { members: database.spec.members })
      },
  }),
  bug('percona', 'members that are counted in a cache after a restart', {
    wrong:
      () =>
      async (database, { client }) => {
        const missing = database.spec.members - (await childrenOf(client, database)).length
        for (let index = 0; index < missing; index++) {
          const { name: _, ...metadata } = childOf(database, '').metadata
          await client.create(ConfigMap, {
            metadata: { ...metadata, generateName: nameOf(database, 'member-') },
          })
        }
      },
    right:
      () =>
      async (database, { client }) =>
        keepOnly(client, database, membersOf(database)),
  }),
]
