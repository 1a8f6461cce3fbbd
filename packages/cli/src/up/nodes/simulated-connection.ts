import { newBadRequest, newNotFound } from '@coxswain/apimachinery/status'
import type { NodeConnection } from '@coxswain/apiserver'
import { decodeText } from '@coxswain/kit'
import { refuseToSimulate } from '@coxswain/kubelet/host'
import { formatQuery, isStream, readBody, type Transport } from '@coxswain/wire'

/**
 * The connection to simulated nodes on another thread, which serve the kubelet API: `/NODE/healthz` is node NODE's
 * `/healthz`.
 */
export function createSimulatedConnection(nodes: ReadonlySet<string>, transport: Transport): NodeConnection {
  const [anyNode = ''] = nodes
  const ask: NodeConnection['ask'] = async (node, request) =>
    await transport.send({ ...request, path: `/${node}${request.path}` })
  return {
    hasNode: node => nodes.has(node),
    ask,
    async readLog({ namespace, name }, container, { signal, since, ...rest }) {
      const query = { ...rest, ...(since !== undefined && { sinceTime: new Date(since).toISOString() }) }
      const { status, body } = await ask(anyNode, {
        method: 'GET',
        path: `/containerLogs/${[namespace, name, container].map(encodeURIComponent).join('/')}`,
        query: formatQuery(query),
        headers: {},
        signal,
      })
      if (status === 200) return isStream(body) ? body : whole(await readBody(body))
      if (status === 404) throw newNotFound({ group: '', resource: 'pods' }, name)
      throw newBadRequest(decodeText(await readBody(body)))
    },
    exec: async () => {
      throw refuseToSimulate('exec')
    },
    attach: async () => {
      throw refuseToSimulate('attach')
    },
    dial: async () => {
      throw refuseToSimulate('dial')
    },
  }
}

async function* whole(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  yield bytes
}
