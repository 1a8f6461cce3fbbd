import { ConfigMap } from '@coxswain/api/core/v1'
import { deepEqual } from '@coxswain/apimachinery/json'
import { isAlreadyExists, isNotFound } from '@coxswain/apimachinery/status'
import type { NodeView, ServiceView } from '@coxswain/kinds'
import type { OperatorClient } from '@coxswain/runtime'
import {
  type AddressView,
  type CloudContext,
  type CloudProvider,
  defaultLoadBalancerName,
  type Instances,
  isUninitialized,
  type LoadBalancers,
  type Route,
  type Routes,
} from './provider.ts'

/** Where the state of the local cloud can be inspected and changed: each entry is one resource, as JSON. */
export const localCloudKey = { namespace: 'kube-system', name: 'cloud-local' } as const

const scheme = 'local://'
const loopback = '127.0.0.1'

/** An entry `instance.NAME`. Removing it deletes the instance; the state `stopped` shuts it down. */
interface LocalInstance {
  readonly providerID: string
  readonly state: 'running' | 'stopped'
  readonly type: string
  readonly zone: string
  readonly region: string
  readonly addresses: readonly AddressView[]
}

/**
 * A simulated cloud whose state is in a ConfigMap. Creates instances for nodes that wait for their cloud, and ignores other
 * nodes. The address of a load balancer is the loopback address, where node ports are served.
 */
export function createLocalCloud(): CloudProvider {
  return { name: 'local', instances, routes, loadBalancers }
}

const instances: Instances = {
  async exists(node, context) {
    return !isOurs(node) || (await readInstance(node, context)) !== undefined
  },
  async isShutDown(node, context) {
    return isOurs(node) && (await readInstance(node, context))?.state === 'stopped'
  },
  async metadata(node, context) {
    const isNew = node.spec?.providerID === undefined && isUninitialized(node)
    if (!isNew && !isOurs(node)) return undefined
    // A node whose instance was deleted does not get a new one.
    const instance = (await readInstance(node, context)) ?? (isNew && (await makeInstance(node, context)))
    if (!instance) return undefined
    const { providerID, type: instanceType, zone, region, addresses = [] } = instance
    return { providerID, instanceType, zone, region, addresses }
  },
}

const isOurs = ({ spec }: NodeView) => spec?.providerID?.startsWith(scheme) ?? false

function entryOf({ metadata, spec }: NodeView): string {
  return `instance.${spec?.providerID?.slice(scheme.length) ?? metadata.name}`
}

async function readInstance(node: NodeView, { client }: CloudContext): Promise<LocalInstance | undefined> {
  return (await read(client)).get(entryOf(node)) as LocalInstance | undefined
}

async function makeInstance(node: NodeView, { client }: CloudContext): Promise<LocalInstance> {
  const { name } = node.metadata
  const own = node.status?.addresses ?? []
  const instance: LocalInstance = {
    providerID: `${scheme}${name}`,
    state: 'running',
    type: 'local',
    zone: 'local-1',
    region: 'local',
    addresses: own.some(({ type }) => type === 'InternalIP')
      ? own
      : [{ type: 'InternalIP', address: loopback }, ...own],
  }
  await write(client, entryOf(node), instance)
  return instance
}

const routes: Routes = {
  async list({ client }) {
    const entries = await read(client)
    return [...entries].flatMap(([entry, value]) =>
      entry.startsWith('route.') && value !== undefined
        ? [{ ...(value as Omit<Route, 'name'>), name: entry }]
        : [],
    )
  },
  async create({ targetNode, destinationCIDR, targetNodeAddresses = [] }, { client }) {
    const entry = `route.${targetNode}.${destinationCIDR.replaceAll(/[/:]/g, '-')}`
    await write(client, entry, { targetNode, destinationCIDR, targetNodeAddresses })
  },
  async delete({ name }, { client }) {
    await write(client, name, undefined)
  },
}

const balancerEntry = (service: ServiceView) => `load-balancer.${defaultLoadBalancerName(service)}`
const balancerStatus = { ingress: [{ ip: loopback, ipMode: 'Proxy' }] }

const loadBalancers: LoadBalancers = {
  async get(service, { client }) {
    return (await read(client)).has(balancerEntry(service)) ? balancerStatus : undefined
  },
  async ensure(service, nodes, { client }) {
    const { namespace, name } = service.metadata
    const { ports = [], loadBalancerSourceRanges: sourceRanges } = service.spec ?? {}
    await write(client, balancerEntry(service), {
      service: `${namespace}/${name}`,
      address: loopback,
      ports: ports.map(({ port, protocol = 'TCP', nodePort }) =>
        nodePort
          ? `${port}/${protocol} at ${loopback}:${nodePort}`
          : `${port}/${protocol} without a node port`,
      ),
      ...(sourceRanges && { sourceRanges }),
      nodes: nodes.map(({ metadata }) => metadata.name).sort(),
    })
    return balancerStatus
  },
  async update(service, nodes, context) {
    await loadBalancers.ensure(service, nodes, context)
  },
  async delete(service, { client }) {
    await write(client, balancerEntry(service), undefined)
  },
}

async function read(client: OperatorClient): Promise<Map<string, unknown>> {
  const found = await client.get(ConfigMap, localCloudKey, { cached: false })
  return new Map(Object.entries(found?.data ?? {}).map(([entry, text]) => [entry, parse(text)]))
}

/** An invalid entry counts as absent. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Patches a single entry, whatever else changes concurrently; undefined removes it. */
async function write(client: OperatorClient, entry: string, value: object | undefined): Promise<void> {
  const present = (await read(client)).get(entry)
  if (deepEqual(present, value)) return
  const text = value === undefined ? null : JSON.stringify(value)
  const patch = () => client.patch(ConfigMap, localCloudKey, { data: { [entry]: text } }, { type: 'merge' })
  try {
    await patch()
  } catch (error) {
    if (!isNotFound(error)) throw error
    if (text === null) return
    try {
      await client.create(ConfigMap, { metadata: localCloudKey, data: { [entry]: text } })
    } catch (raced) {
      if (!isAlreadyExists(raced)) throw raced
      await patch()
    }
  }
}
