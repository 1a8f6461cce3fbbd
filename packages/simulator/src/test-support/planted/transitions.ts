import { ConfigMap } from '@coxswain/api/core/v1'
import { isAlreadyExists } from '@coxswain/apimachinery/status'
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
} from './database.ts'

/** Changes that are not followed: no fault is needed, only what users do. The automatic scenarios find them. */
export const transitionBugs: readonly PlantedBug[] = [
  bug('cockroachdb', 'a change of a field that nothing follows', {
    wrong:
      () =>
      async (database, { client }) => {
        await client
          .create(ConfigMap, childOf(database, 'image', { version: database.spec.version }))
          .catch(error => {
            if (!isAlreadyExists(error)) throw error
          })
      },
    right:
      () =>
      async (database, { client }) =>
        void (await apply(client, childOf(database, 'image', { version: database.spec.version }))),
  }),
  bug('zookeeper', 'members that are never scaled down', {
    wrong:
      () =>
      async (database, { client }) => {
        for (const member of membersOf(database)) await apply(client, member)
      },
    right:
      () =>
      async (database, { client }) =>
        keepOnly(client, database, membersOf(database)),
  }),
  bug('sample-controller', 'an old child that stays when its name changes', {
    wrong:
      () =>
      async (database, { client }) =>
        void (await apply(client, childOf(database, `v-${database.spec.version}`))),
    right:
      () =>
      async (database, { client }) =>
        keepOnly(client, database, [childOf(database, `v-${database.spec.version}`)]),
  }),
  bug('kafka', 'settings that are added and never removed', {
    wrong:
      () =>
      async (database, { client }) => {
        const key = keyOf(database, nameOf(database, 'settings'))
        const present = await client.get(ConfigMap, key)
        const child = childOf(database, 'settings', { ...present?.data, ...database.spec.settings })
        if (!present) await client.create(ConfigMap, child)
        else if (JSON.stringify(present.data) !== JSON.stringify(child.data))
          await client.update(ConfigMap, { ...present, data: child.data })
      },
    right:
      () =>
      async (database, { client }) =>
        void (await apply(
          client,
          childOf(database, 'settings', database.spec.settings ? { ...database.spec.settings } : {}),
        )),
  }),
  bug('xtradb', 'users that are added and never removed', {
    wrong:
      () =>
      async (database, { client }) => {
        for (const user of database.spec.users ?? []) await apply(client, childOf(database, `user-${user}`))
      },
    right:
      () =>
      async (database, { client }) =>
        keepOnly(
          client,
          database,
          (database.spec.users ?? []).map(user => childOf(database, `user-${user}`)),
        ),
  }),
  bug('opensearch', 'a mode that cannot be left', {
    wrong:
      () =>
      async (database, { client }) => {
        if (database.spec.mode === 'Cluster') await apply(client, childOf(database, 'discovery'))
      },
    right:
      () =>
      async (database, { client }) =>
        keepOnly(client, database, database.spec.mode === 'Cluster' ? [childOf(database, 'discovery')] : []),
  }),
  bug('etcd', 'a scale-down that skips zero', {
    wrong:
      () =>
      async (database, { client }) => {
        if (!database.spec.members) return
        await keepOnly(client, database, membersOf(database))
      },
    right:
      () =>
      async (database, { client }) =>
        keepOnly(client, database, membersOf(database)),
  }),
  bug('rabbitmq', 'a default that is not restored', {
    wrong:
      () =>
      async (database, { client }) => {
        const key = keyOf(database, nameOf(database, 'mode'))
        const present = await client.get(ConfigMap, key)
        const mode = database.spec.mode ?? present?.data?.mode ?? 'Single'
        await apply(client, childOf(database, 'mode', { mode }))
      },
    right:
      () =>
      async (database, { client }) =>
        void (await apply(client, childOf(database, 'mode', { mode: database.spec.mode ?? 'Single' }))),
  }),
  bug('k8ssandra', 'a step for each change that is seen', {
    wrong:
      () =>
      async (database, { client }) => {
        const { version } = database.spec
        if (database.status?.version === version) return
        await apply(client, childOf(database, `to-${version}`))
        await setStatus(client, database, { version })
      },
    right:
      () =>
      async (database, { client }) => {
        const { version } = database.spec
        await apply(client, childOf(database, 'migration', { to: version }))
        await setStatus(client, database, { version })
      },
  }),
  bug('tidb', 'a generation that is observed once', {
    wrong:
      () =>
      async (database, { client }) => {
        await apply(client, childOf(database, 'config', { version: database.spec.version }))
        if (database.status?.observedGeneration === undefined)
          await setStatus(client, database, { observedGeneration: database.metadata.generation ?? 0 })
      },
    right:
      () =>
      async (database, { client }) => {
        await apply(client, childOf(database, 'config', { version: database.spec.version }))
        await setStatus(client, database, { observedGeneration: database.metadata.generation ?? 0 })
      },
  }),
  bug('mongodb', 'a rare value that throws', {
    wrong:
      () =>
      async (database, { client }) => {
        const first = (database.spec.users as string[])[0]!.toUpperCase()
        await apply(client, childOf(database, 'admin', { first }))
      },
    right:
      () =>
      async (database, { client }) => {
        const first = database.spec.users?.[0]?.toUpperCase() ?? 'NONE'
        await apply(client, childOf(database, 'admin', { first }))
      },
  }),
  bug('casskop', 'a status that counts reconciles', {
    wrong:
      () =>
      async (database, { client }) => {
        const status = { members: (database.status?.members ?? 0) + 1 }
        await client.updateStatus(Database.v1, { ...database, status })
      },
    right:
      () =>
      async (database, { client }) =>
        setStatus(client, database, { members: database.spec.members }),
  }),
  bug('argo', 'a time in every write', {
    wrong:
      () =>
      async (database, { client, clock }) =>
        void (await apply(client, childOf(database, 'seen', { at: String(clock.now()) }))),
    right:
      () =>
      async (database, { client }) =>
        void (await apply(client, childOf(database, 'seen'))),
  }),
  bug('spark', 'two children that undo each other', {
    wrong:
      () =>
      async (database, { client }) => {
        const children = await childrenOf(client, database)
        const isOn = children.some(({ metadata }) => metadata.name === nameOf(database, 'on'))
        if (isOn) {
          await apply(client, childOf(database, 'off'))
          await remove(client, keyOf(database, nameOf(database, 'on')))
        } else {
          await apply(client, childOf(database, 'on'))
          await remove(client, keyOf(database, nameOf(database, 'off')))
        }
      },
    right:
      () =>
      async (database, { client }) =>
        keepOnly(client, database, [childOf(database, 'on')]),
  }),
]
