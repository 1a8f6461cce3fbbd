import { bug, type Database, type PlantedBug, setStatus } from './database.ts'

const url = 'https://api.example.com/databases'

async function call(method: string, path: string, body?: object): Promise<Response> {
  return await fetch(`${url}${path}`, { method, ...(body && { body: JSON.stringify(body) }) })
}

const requireOk = (response: Response): Response => {
  if (!response.ok && response.status !== 404) throw new Error(`${response.url} answers ${response.status}`)
  return response
}

const ownerOf = ({ metadata }: Database): string => `${metadata.namespace}-${metadata.name}`

const put = async (database: Database) =>
  requireOk(await call('PUT', `/${ownerOf(database)}`, { version: database.spec.version }))

/** Services outside of the cluster, which fail, hang and lose responses. */
export const outsideBugs: readonly PlantedBug[] = [
  bug('crossplane', 'a resource outside that is made twice', {
    wrong: () => ({
      reconcile: async (database, { client }) => {
        if (database.status?.volume) return
        const response = requireOk(await call('POST', '', { owner: ownerOf(database) }))
        await setStatus(client, database, { volume: ((await response.json()) as { id: string }).id })
      },
      finalize: async database => {
        if (database.status?.volume) requireOk(await call('DELETE', `/${database.status.volume}`))
      },
    }),
    right: () => ({
      reconcile: async database => void (await put(database)),
      finalize: async database => void requireOk(await call('DELETE', `/${ownerOf(database)}`)),
    }),
  }),
  bug('ack', 'a response that is not looked at', {
    wrong: () => ({
      reconcile: async database =>
        void (await call('PUT', `/${ownerOf(database)}`, { version: database.spec.version })),
      finalize: async database => void (await call('DELETE', `/${ownerOf(database)}`)),
    }),
    right: () => ({
      reconcile: async database => void (await put(database)),
      finalize: async database => void requireOk(await call('DELETE', `/${ownerOf(database)}`)),
    }),
  }),
  bug('external-dns', 'a record that is never deleted', {
    wrong: () => async database => void (await put(database)),
    right: () => ({
      reconcile: async database => void (await put(database)),
      finalize: async database => void requireOk(await call('DELETE', `/${ownerOf(database)}`)),
    }),
  }),
  bug('cloudnative-pg', 'a deletion that fails when there is nothing left', {
    wrong: () => ({
      reconcile: async database => void (await put(database)),
      finalize: async database => {
        const response = await call('DELETE', `/${ownerOf(database)}`)
        if (!response.ok) throw new Error(`answered ${response.status}`)
      },
    }),
    right: () => ({
      reconcile: async database => void (await put(database)),
      finalize: async database => void requireOk(await call('DELETE', `/${ownerOf(database)}`)),
    }),
  }),
]
