/** Networks that are made outside of the cluster, in a service like Neutron, and kept as they were asked for. */
import {
  type Condition,
  defineKind,
  defineOperator,
  type KindOf,
  type Operator,
  requeueAfter,
  s,
  setStatusCondition,
  TerminalError,
} from 'coxswain'
import {
  createHttpNetworkApi,
  type NetworkApi,
  NetworkApiError,
  type NetworkSettings,
  type OutsideNetwork,
} from './network-api.ts'

export const Network = defineKind({
  group: 'samplecrd.k8s.io',
  kind: 'Network',
  // Groups under k8s.io are Kubernetes' own: a definition in one has to say who approved it.
  annotations: { 'api-approved.kubernetes.io': 'unapproved, a sample' },
  versions: {
    v1: {
      spec: s.object({
        cidr: s.string({ minLength: 1 }).doc('Addresses of the network: 192.168.0.0/16.'),
        gateway: s.string({ minLength: 1 }).doc('Address of its gateway, one of them.'),
      }),
      status: s.object({
        id: s.string().optional().doc('Of the network outside.'),
        conditions: s.conditions().optional(),
      }),
      columns: {
        CIDR: '.spec.cidr',
        Gateway: '.spec.gateway',
        Outside: '.status.id',
        Ready: '.status.conditions[?(@.type=="Ready")].status',
      },
    },
  },
})
export type Network = KindOf<typeof Network.v1>

/** Kept on a Network until there is nothing of it outside. */
export const finalizer = 'samplecrd.k8s.io/outside'

/** What others do outside is found and undone this often. */
const resyncPeriod = 300_000
/** How long to leave an API alone that does not answer. */
const downDelay = 10_000

/**
 * The uid is what ties both sides together: it is looked up before anything is made, so that a crash between making a
 * network and writing down its id makes no second one.
 */
export function createNetworkOperator(api: NetworkApi): Operator {
  return defineOperator('network', operator => {
    operator
      .controller('network')
      .for(Network.v1)
      .options({ errorEvents: false, resyncPeriod, concurrency: 4 })
      .finalizer(finalizer, async ({ key, client, events, signal }) => {
        const network = await client.get(Network.v1, key)
        if (!network) return
        try {
          const outside = await api.find(network.metadata.uid, signal)
          if (outside) await api.delete(outside.id, signal)
        } catch (error) {
          if (!isUnavailable(error)) throw error
          events.warning(network, 'OutsideUnavailable', error.message)
          return requeueAfter(downDelay)
        }
      })
      .reconcile(async ({ key, client, clock, events, signal }) => {
        const network = await client.get(Network.v1, key)
        if (!network || network.metadata.deletionTimestamp) return
        /** Writes the status when it says something new, and says whether it did. */
        const report = async (
          ready: Omit<Condition, 'type' | 'lastTransitionTime'>,
          id = network.status?.id,
        ) => {
          const conditions = (network.status?.conditions ?? []).map(condition => ({ ...condition }))
          const update = { type: 'Ready', observedGeneration: network.metadata.generation ?? 0, ...ready }
          if (!setStatusCondition(conditions, update, clock) && id === network.status?.id) return false
          await client.updateStatus(Network.v1, { ...network, status: { ...(id && { id }), conditions } })
          return true
        }
        const wanted: NetworkSettings = {
          name: `${key.namespace}/${key.name}`,
          cidr: network.spec.cidr,
          gateway: network.spec.gateway,
        }
        try {
          const found = await api.find(network.metadata.uid, signal)
          const outside = found ?? (await api.create(network.metadata.uid, wanted, signal))
          if (!found) events.normal(network, 'Created', `network ${outside.id} was made`)
          else if (!isAsWanted(found, wanted)) {
            await api.update(found.id, wanted, signal)
            events.normal(network, 'Updated', `network ${found.id} was ${found.cidr}, ${found.gateway}`)
          }
          const message = `network ${outside.id} is as asked for`
          await report({ status: 'True', reason: 'AsWanted', message }, outside.id)
        } catch (error) {
          if (!(error instanceof NetworkApiError)) throw error
          const { code, message } = error
          if (code === 'Unavailable') {
            const isNews = await report({ status: 'Unknown', reason: 'OutsideUnavailable', message })
            if (isNews) events.warning(network, 'OutsideUnavailable', message)
            return requeueAfter(downDelay)
          }
          if (code !== 'Refused') throw error // it was changed meanwhile: look again
          if (await report({ status: 'False', reason: 'Refused', message })) {
            events.warning(network, 'Refused', message)
          }
          throw new TerminalError(message, { cause: error })
        }
      })
  })
}

function isAsWanted(outside: OutsideNetwork, { name, cidr, gateway }: NetworkSettings): boolean {
  return outside.name === name && outside.cidr === cidr && outside.gateway === gateway
}

function isUnavailable(error: unknown): error is NetworkApiError {
  return error instanceof NetworkApiError && error.code === 'Unavailable'
}

export default createNetworkOperator(createHttpNetworkApi(process.env.NETWORK_API ?? 'http://127.0.0.1:9696'))
