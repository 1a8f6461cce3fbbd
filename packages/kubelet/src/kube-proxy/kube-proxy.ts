import { Pod, Service } from '@coxswain/api/core/v1'
import { EndpointSlice } from '@coxswain/api/discovery/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import { aborted } from '@coxswain/kit'
import {
  defineOperator,
  type ObjectEvent,
  type Operator,
  type ReconcileContext,
  requeueAfter,
} from '@coxswain/runtime'
import { type HealthCheck, HealthPorts, makeHealthCheck } from './health-ports.ts'
import { Listeners } from './listeners.ts'
import { findRivals, type Machine, makeRules, type ProxyRule, serviceNameLabel } from './proxy-rules.ts'
import type { ServiceSockets } from './service-sockets.ts'

/** Options of {@link createKubeProxy}. */
export interface KubeProxyOptions extends Machine {
  readonly sockets: ServiceSockets
}

/** Everything is reconciled together: one key. */
const all = [{ name: 'services' }]
/** Milliseconds for which changes are batched. */
const delay = 20

/**
 * Makes Services reachable on the loopback addresses of this machine, as kube-proxy does on a node: NodePorts at 127.0.0.1,
 * cluster IPs at `loopbackAddressOf`. Connections go to the endpoints in turn; open connections survive every change.
 *
 *   Service, EndpointSlice -> rules -> listeners -> ServiceSockets
 *   Pod ─────> ports reserved for Pods ─────┘
 */
export function createKubeProxy(options: KubeProxyOptions): Operator {
  const { sockets } = options
  return defineOperator('kube-proxy', operator => {
    let listeners: Listeners | undefined
    let health: HealthPorts | undefined
    let hasEnded = false
    let saidIPv6 = false
    operator.task('sockets', async ({ signal }) => {
      await aborted(signal)
      hasEnded = true
      await sockets[Symbol.asyncDispose]()
    })
    operator
      .controller('service-proxy')
      .watches(Service, () => all, { delay })
      .watches(EndpointSlice, () => all, { delay })
      .watches(Pod, () => all, { predicates: [mattersForPorts] })
      .options({ eventSource: 'kube-proxy' })
      .reconcile(async context => {
        listeners ??= new Listeners(sockets, context.clock, () => hasEnded)
        health ??= new HealthPorts(sockets)
        const { rules, rivals, ofIPv6, checks } = await readCluster(context, options)
        if (!hasEnded) await health.sync(checks, context)
        if (ofIPv6 && !saidIPv6)
          context.log.info('Services are not reachable at IPv6 addresses', { service: ofIPv6.metadata.name })
        saidIPv6 ||= ofIPv6 !== undefined
        const wait = await listeners.sync(rules, rivals, context)
        return wait === undefined ? undefined : requeueAfter(wait)
      })
  })
}

/** A Pod's ports are reserved as long as it may run. */
function mattersForPorts(event: ObjectEvent<Pod>): boolean {
  if (event.type !== 'update') return true
  const { object, old } = event
  return object.spec.nodeName !== old.spec.nodeName || object.status?.phase !== old.status?.phase
}

async function readCluster({ client }: ReconcileContext, machine: Machine) {
  const [services, slices, pods] = await Promise.all([
    client.list(Service),
    client.list(EndpointSlice),
    client.list(Pod),
  ])
  const byService = new Map<string, DeepReadonly<EndpointSlice>[]>()
  for (const slice of slices.items) {
    const name = slice.metadata.labels?.[serviceNameLabel]
    if (name === undefined) continue
    const id = `${slice.metadata.namespace}/${name}`
    const known = byService.get(id)
    if (known) known.push(slice)
    else byService.set(id, [slice])
  }
  const rules = new Map<string, ProxyRule>()
  const checks: HealthCheck[] = []
  for (const service of services.items) {
    const { namespace, name } = service.metadata
    const own = byService.get(`${namespace}/${name}`) ?? []
    for (const rule of makeRules(service, own, machine)) if (!rules.has(rule.id)) rules.set(rule.id, rule)
    const check = makeHealthCheck(service, own, machine)
    if (check) checks.push(check)
  }
  const ofIPv6 = services.items.find(({ spec }) => spec?.clusterIPs?.some(address => address.includes(':')))
  return { rules, rivals: findRivals(pods.items, rules.values(), machine), ofIPv6, checks }
}
