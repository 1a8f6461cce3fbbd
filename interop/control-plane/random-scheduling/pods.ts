import { Pod } from '@coxswain/api/core/v1'
import { formatTime } from '@coxswain/apimachinery/time'
import type { Given } from '../../../packages/testing/src/test-support/scheduling/scenario.ts'
import type { Draw } from '../comparison/random/draw.ts'
import { drawNodeAffinity, drawPodAffinity, drawSpread, drawTolerations } from './affinities.ts'
import { apps, disks, gpu, images, maybe, some, versions } from './nodes.ts'

/** What pods of one case may refer to. */
export interface Surroundings {
  readonly nodeNames: readonly string[]
  readonly claims: readonly string[]
  readonly runtimeClass: string | undefined
  /** How much pods ask for: 1 makes most of them go nowhere. */
  readonly density: number
}

const start = Date.parse('2026-01-01T00:00:00Z')

function drawLabels(draw: Draw): Record<string, string> {
  return {
    app: draw.pick(apps),
    ...(draw.chance(0.5) && { version: draw.pick(versions) }),
    ...(draw.chance(0.5) && { tier: draw.pick(['front', 'back']) }),
    ...(draw.chance(0.3) && { owner: draw.pick(['ann', 'bob']) }),
  }
}

function drawRequests(draw: Draw, cpus: readonly string[], density = 1): object {
  const extended = maybe(draw, 0.12 * density, () => ({ [gpu]: String(draw.below(3) + 1) }))
  const pages = maybe(draw, 0.05 * density, () => ({ 'hugepages-2Mi': '4Mi' }))
  const exact = { ...extended, ...pages }
  return {
    requests: {
      ...((pages || draw.chance(0.85)) && { cpu: draw.pick(cpus) }),
      ...(draw.chance(0.5) && {
        memory: draw.pick(density < 1 ? ['50Mi', '100Mi', '250Mi'] : ['100Mi', '1Gi', '2Gi']),
      }),
      ...(draw.chance(0.1) && { 'ephemeral-storage': draw.pick(['500Mi', '2Gi']) }),
      ...exact,
    },
    limits: exact,
  }
}

const drawPorts = (draw: Draw) => [
  {
    containerPort: 80,
    hostPort: 8080 + draw.below(2),
    ...(draw.chance(0.3) && { protocol: 'UDP' }),
    ...(draw.chance(0.4) && { hostIP: draw.pick(['127.0.0.1', '10.0.0.1', '0.0.0.0']) }),
  },
]

function drawContainers(draw: Draw, density: number): object {
  const container = (name: string, more: object = {}) => ({
    name,
    image: draw.pick([...images, 'x']),
    resources: drawRequests(
      draw,
      density < 1 ? ['50m', '100m', '300m'] : ['100m', '500m', '1', '2'],
      density,
    ),
    ...more,
  })
  const ports = maybe(draw, 0.15, () => drawPorts(draw))
  const restarting = maybe(draw, 0.05, () => ({
    restartPolicy: 'Never',
    restartPolicyRules: [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [42] } }],
  }))
  const inits = draw.chance(0.25)
    ? Array.from({ length: draw.below(2) + 1 }, (_, index) =>
        container(`i${index}`, draw.chance(0.5) ? { restartPolicy: 'Always' } : {}),
      )
    : []
  return {
    ...(inits.length > 0 && { initContainers: inits }),
    containers: [
      container('main', { ...(ports && { ports }), ...restarting }),
      ...(draw.chance(0.2) ? [container('second')] : []),
    ],
    // As much as any of the above may ask for together.
    ...(draw.chance(0.1) && {
      resources: { requests: density < 1 ? { cpu: '1500m' } : { cpu: '8', memory: '12Gi' } },
    }),
  }
}

const priorities = [undefined, undefined, 'low', 'middle', 'high', 'higher', 'polite'] as const

/** One that is on a node already. */
export function drawBoundPod(draw: Draw, name: string, { nodeNames, claims }: Surroundings): Given {
  const priorityClassName = draw.pick(priorities)
  const namespace = draw.pick(['default', 'default', 'default', 'other', 'third'])
  const antiAffinity = maybe(draw, 0.2, () => drawPodAffinity(draw, 0.6, 1))
  const affinity = maybe(draw, 0.15, () => drawPodAffinity(draw))
  const ports = maybe(draw, 0.15, () => drawPorts(draw))
  const claim = namespace === 'default' && draw.chance(0.15) && claims.length > 0 && draw.pick(claims)
  return [
    Pod,
    {
      metadata: { name, namespace, labels: drawLabels(draw) },
      spec: {
        nodeName: draw.pick(nodeNames),
        terminationGracePeriodSeconds: draw.chance(0.3) ? 30 : 0,
        containers: [
          {
            name: 'main',
            image: 'x',
            resources: drawRequests(draw, ['100m', '500m', '1']),
            ...(ports && { ports }),
          },
        ],
        ...(priorityClassName && { priorityClassName }),
        ...((affinity || antiAffinity) && {
          affinity: {
            ...(affinity && { podAffinity: affinity }),
            ...(antiAffinity && { podAntiAffinity: antiAffinity }),
          },
        }),
        ...(claim && { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: claim } }] }),
      },
      status: {
        phase: draw.chance(0.05) ? 'Succeeded' : 'Running',
        startTime: formatTime(start + draw.below(10_000) * 1_000),
      },
    },
  ]
}

/** One that looks for a node. */
export function drawPod(draw: Draw, name: string, surroundings: Surroundings): Given {
  const { nodeNames, claims, runtimeClass, density } = surroundings
  const priorityClassName = draw.pick([...priorities, 'high', 'higher'])
  const namespace = draw.chance(0.85) ? 'default' : 'other'
  const affinity = {
    ...(draw.chance(0.3 * density) && { nodeAffinity: drawNodeAffinity(draw, nodeNames, 0.5 * density) }),
    ...(draw.chance(0.25) && { podAffinity: drawPodAffinity(draw, 0.4 * density) }),
    ...(draw.chance(0.25) && { podAntiAffinity: drawPodAffinity(draw, 0.6 * density, 1) }),
  }
  const wanted = namespace === 'default' && draw.chance(0.5 * density) ? some(draw, claims, 0.4) : []
  const disk = maybe(draw, 0.08, () => drawInlineDisk(draw))
  const volumes = [
    ...wanted.map(claimName => ({ name: `v-${claimName}`, persistentVolumeClaim: { claimName } })),
    ...(disk ? [{ name: 'disk', ...disk }] : []),
  ]
  return [
    Pod,
    {
      metadata: { name, namespace, labels: drawLabels(draw) },
      spec: {
        terminationGracePeriodSeconds: 0,
        ...drawContainers(draw, density),
        ...(Object.keys(affinity).length > 0 && { affinity }),
        ...(draw.chance(0.1 * density) && { nodeSelector: { disk: draw.pick(disks) } }),
        ...(draw.chance(0.3) && { topologySpreadConstraints: drawSpread(draw, density) }),
        ...(draw.chance(0.4) && { tolerations: drawTolerations(draw) }),
        ...(priorityClassName && { priorityClassName }),
        ...(draw.chance(0.03) && { schedulingGates: [{ name: 'example.com/gate' }] }),
        ...(runtimeClass && draw.chance(0.4) && { runtimeClassName: runtimeClass }),
        ...(volumes.length > 0 && { volumes }),
      },
    },
  ]
}

/** Disks that two pods cannot have at one time, or only to read. */
function drawInlineDisk(draw: Draw): object {
  const readOnly = draw.chance(0.5)
  return draw.pick([
    { gcePersistentDisk: { pdName: 'd', readOnly } },
    { awsElasticBlockStore: { volumeID: 'aws://a/vol' } },
    { iscsi: { targetPortal: '10.0.0.1:3260', iqn: 'iqn.2001-04.com.example:d', lun: 0, readOnly } },
    { rbd: { monitors: ['10.0.0.1:6789'], image: 'd', pool: 'p', readOnly } },
  ])
}
