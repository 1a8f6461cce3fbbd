import { Endpoints, Pod, Service } from '@coxswain/api/core/v1'
import { EndpointSlice } from '@coxswain/api/discovery/v1'
import { labels } from '../scenarios/workload.ts'
import { endNamespace, makeBudget } from './bystanders.ts'
import { type Action, type Draw, drawActions, type Family } from './draw.ts'
import { podActions, readyPod, unreadyPod } from './pods-by-hand.ts'

const portLists: readonly unknown[] = [
  [{ port: 80 }],
  [{ port: 80, targetPort: 'http' }],
  [
    { name: 'http', port: 80, targetPort: 'http' },
    { name: 'dns', port: 53, protocol: 'UDP', targetPort: 'dns' },
  ],
  [
    { name: 'tcp', port: 53 },
    { name: 'udp', port: 53, protocol: 'UDP' },
    { name: 'app', port: 81, targetPort: 9_000, appProtocol: 'kubernetes.io/h2c' },
  ],
]
const podPorts: readonly unknown[] = [
  undefined,
  [{ name: 'http', containerPort: 8080 }],
  [
    { name: 'http', containerPort: 8081 },
    { name: 'dns', containerPort: 53, protocol: 'UDP' },
  ],
]
const selectors = [labels, labels, labels, { app: 'stray' }, null]

const makePod = (draw: Draw): Action => {
  const name = `pod-${draw.below(5)}`
  const ports = draw.pick(podPorts)
  const image = draw.pick(['one', 'one', 'one', 'broken', 'exit-0', 'exit-1'])
  const spec = {
    nodeName: draw.pick(['node-a', 'node-b']),
    restartPolicy: draw.pick(['Always', 'Never']),
    containers: [{ name: 'c', image, ...(ports !== undefined && { ports }) }],
    ...(draw.chance(0.2) && { hostname: name, subdomain: 'web' }),
  }
  const finalizers = draw.chance(0.2) ? ['example.com/hold'] : []
  return {
    say: `${name} ${JSON.stringify(spec)} ${finalizers}`,
    run: stage => stage.create(Pod, name, { metadata: { labels, finalizers }, spec }),
  }
}
const patch = (say: string, spec: object): Action => ({
  say: `${say} ${JSON.stringify(spec)}`,
  run: stage => stage.patch(Service, 'web', { spec }),
})
const subset = (draw: Draw) => ({
  addresses: Array.from({ length: 1 + draw.below(2) }, (_, nth) => ({
    ip: `10.9.${draw.below(2)}.${nth + 1}`,
    ...(draw.chance(0.3) && { hostname: `host-${nth}` }),
    ...(draw.chance(0.3) && { nodeName: 'node-a' }),
  })),
  ...(draw.chance(0.4) && { notReadyAddresses: [{ ip: '10.9.9.9' }] }),
  ports: draw.pick([
    [{ port: 8080 }],
    [
      { name: 'http', port: 8080 },
      { name: 'dns', port: 53, protocol: 'UDP' },
    ],
  ]),
})
const byHand = (draw: Draw): Action => {
  const subsets = Array.from({ length: draw.below(3) }, () => subset(draw))
  const metadata = {
    labels: draw.pick([{}, { mine: 'x' }, { 'endpointslice.kubernetes.io/skip-mirror': 'true' }]),
    annotations: draw.pick([{}, { note: 'y' }]),
  }
  return {
    say: `endpoints by hand ${JSON.stringify({ metadata, subsets })}`,
    run: async stage => {
      if (await stage.get(Endpoints, 'web')) await stage.patch(Endpoints, 'web', { metadata, subsets })
      else await stage.create(Endpoints, 'web', { metadata, subsets })
    },
  }
}

function create(draw: Draw): Action {
  const selector = draw.pick(selectors)
  const spec = {
    ...(selector && { selector }),
    ports: draw.pick(portLists),
    ...(draw.chance(0.3) && { clusterIP: 'None' }),
    ...(draw.chance(0.2) && { publishNotReadyAddresses: true }),
    ...(draw.chance(0.2) && { trafficDistribution: 'PreferSameZone' }),
  }
  const metadata = {
    labels: { of: 'web' },
    annotations: draw.pick([{}, { 'service.kubernetes.io/topology-mode': 'Auto' }]),
  }
  return {
    say: `service ${JSON.stringify({ metadata, spec })}`,
    run: stage => stage.create(Service, 'web', { metadata, spec }),
  }
}

const makers: readonly ((draw: Draw) => Action)[] = [
  makePod,
  makePod,
  makePod,
  readyPod,
  unreadyPod,
  byHand,
  byHand,
  draw => patch('ports', { ports: draw.pick(portLists) }),
  draw =>
    patch('selector', { selector: draw.pick([{ app: 'web', $patch: 'replace' }, { app: 'stray' }, null]) }),
  draw => patch('publish', { publishNotReadyAddresses: draw.chance(0.5) }),
  () =>
    patch('elsewhere', {
      type: 'ExternalName',
      externalName: 'example.com',
      clusterIP: null,
      clusterIPs: null,
    }),
  () => patch('back', { type: 'ClusterIP', externalName: null }),
  draw => {
    const labelled = { of: draw.pick(['web', 'other']), more: draw.pick([null, 'x']) }
    return {
      say: `labels of the service ${JSON.stringify(labelled)}`,
      run: stage => stage.patch(Service, 'web', { metadata: { labels: labelled } }),
    }
  },
  () => ({ say: 'endpoints deleted', run: stage => stage.remove(Endpoints, 'web') }),
  () => ({
    say: 'slices deleted',
    run: async stage => {
      for (const { metadata } of await stage.list(EndpointSlice))
        await stage.remove(EndpointSlice, metadata.name)
    },
  }),
  () => ({
    say: 'slices labelled',
    run: async stage => {
      for (const { metadata } of await stage.list(EndpointSlice))
        await stage.patch(EndpointSlice, metadata.name, {
          metadata: { labels: { mine: 'x' } },
          endpoints: [],
        })
    },
  }),
  draw => {
    const next = create(draw)
    return {
      say: `deleted, ${next.say}`,
      run: async stage => {
        await stage.remove(Service, 'web')
        await stage.settle()
        await next.run(stage)
      },
    }
  },
  makeBudget,
  ...podActions,
]

export const services: Family = draw => ({
  actions: [
    makePod(draw),
    create(draw),
    ...drawActions(draw, 7, makers),
    ...(draw.chance(0.1) ? endNamespace : []),
  ],
})
