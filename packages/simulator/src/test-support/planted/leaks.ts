import { ConfigMap } from '@coxswain/api/core/v1'
import {
  apply,
  bug,
  childOf,
  childrenOf,
  keepOnly,
  keyOf,
  membersOf,
  nameOf,
  type PlantedBug,
  remove,
  setStatus,
  type Work,
  withoutOwner,
} from './database.ts'

const registry = { namespace: 'default', name: 'registry' }

/** Makes members unless the status of this very generation has them already. */
const makeOnce: Work = async (database, { client }) => {
  if (database.status?.members === database.spec.members && database.status.version === database.spec.version)
    return
  await keepOnly(client, database, membersOf(database))
  await setStatus(client, database, { members: database.spec.members, version: database.spec.version })
}

/** What is left behind, taken from others, or remembered only in memory. */
export const leakBugs: readonly PlantedBug[] = [
  bug('yugabyte', 'a child without an owner and without a clean-up', {
    wrong:
      () =>
      async (database, { client }) =>
        void (await apply(client, withoutOwner(childOf(database, 'account')))),
    right:
      () =>
      async (database, { client }) =>
        void (await apply(client, childOf(database, 'account'))),
  }),
  bug('rook', 'a clean-up that never ends', {
    wrong: () => ({
      reconcile: async (database, { client }) => void (await apply(client, childOf(database, 'cluster'))),
      finalize: async (database, { client }) => {
        const cluster = await client.get(ConfigMap, keyOf(database, nameOf(database, 'cluster')))
        if (cluster) throw new Error('the cluster is still there')
      },
    }),
    right: () => ({
      reconcile: async (database, { client }) => void (await apply(client, childOf(database, 'cluster'))),
      finalize: async (database, { client }) => remove(client, keyOf(database, nameOf(database, 'cluster'))),
    }),
  }),
  bug('istio', 'a clean-up that depends on seeing the deletion', {
    wrong: () => ({
      reconcile: async (database, { client }) =>
        void (await apply(client, withoutOwner(childOf(database, 'route')))),
      onMissing: async ({ client, key }) => remove(client, { ...key, name: `${key.name}-route` }),
    }),
    right: () => ({
      reconcile: async (database, { client }) =>
        void (await apply(client, withoutOwner(childOf(database, 'route')))),
      finalize: async (database, { client }) => remove(client, keyOf(database, nameOf(database, 'route'))),
    }),
  }),
  bug('cert-manager', 'a cache of its own by name', {
    wrong: () => {
      const made = new Map<string, string>()
      return async (database, { client, key }) => {
        const data = JSON.stringify(database.spec)
        if (made.get(key.name) === data) return
        await apply(client, childOf(database, 'certificate', { data }))
        made.set(key.name, data)
      }
    },
    right:
      () =>
      async (database, { client }) =>
        void (await apply(client, childOf(database, 'certificate', { data: JSON.stringify(database.spec) }))),
  }),
  bug('vault', 'a clean-up that takes the children of a namesake along', {
    wrong: () => ({
      reconcile: makeOnce,
      finalize: async (database, { client }) => {
        const { items } = await client.list(ConfigMap, {
          labelSelector: `database=${database.metadata.name}`,
        })
        for (const { metadata } of items)
          await remove(client, { namespace: metadata.namespace ?? '', name: metadata.name })
      },
    }),
    right: () => ({
      reconcile: makeOnce,
      finalize: async (database, { client }) => {
        for (const { metadata } of await childrenOf(client, database))
          await remove(client, keyOf(database, metadata.name))
      },
    }),
  }),
  bug('traefik', 'a namespace that is written into the source', {
    wrong:
      () =>
      async (database, { client }) => {
        const child = withoutOwner(childOf(database, 'route', { version: database.spec.version }))
        await apply(client, { ...child, metadata: { ...child.metadata, namespace: 'default' } })
      },
    right:
      () =>
      async (database, { client }) =>
        void (await apply(client, childOf(database, 'route', { version: database.spec.version }))),
  }),
  bug('consul', 'a name that two namespaces share', {
    wrong: () => ({
      reconcile: async (database, { client }) => {
        const data = { [database.metadata.name]: database.spec.version }
        await client.apply(
          ConfigMap,
          { metadata: registry, data },
          { fieldManager: `db-${database.metadata.name}`, force: true },
        )
      },
      finalize: async (database, { client }) => {
        await client.apply(
          ConfigMap,
          { metadata: registry, data: {} },
          { fieldManager: `db-${database.metadata.name}`, force: true },
        )
      },
    }),
    right:
      () =>
      async (database, { client }) =>
        void (await apply(client, childOf(database, 'registry', { version: database.spec.version }))),
  }),
  bug('prometheus', 'what it does only once per process', {
    wrong: () => {
      let isFirst = true
      return async (database, { client }) => {
        await apply(client, childOf(database, isFirst ? 'primary' : 'secondary'))
        isFirst = false
      }
    },
    right:
      () =>
      async (database, { client }) =>
        void (await apply(client, childOf(database, 'primary'))),
  }),
]
