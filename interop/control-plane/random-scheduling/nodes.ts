import { Service } from '@coxswain/api/core/v1'
import { RuntimeClass } from '@coxswain/api/node/v1'
import { PodDisruptionBudget } from '@coxswain/api/policy/v1'
import {
  type Given,
  hostname,
  node,
  zone,
} from '../../../packages/testing/src/test-support/scheduling/scenario.ts'
import type { Draw } from '../comparison/random/draw.ts'

export const apps = ['web', 'db', 'cache'] as const
export const versions = ['v1', 'v2'] as const
export const taintKeys = ['dedicated', 'gpu', 'flaky'] as const
export const zones = ['a', 'b', 'c'] as const
export const disks = ['ssd', 'hdd'] as const
export const images = ['shop/web:1', 'shop/db:2', 'shop/cache'] as const
export const gpu = 'example.com/gpu'
/** What pods are spread over and kept near by. */
export const topologyKeys = [hostname, zone, 'disk', 'rack'] as const
export const feature = 'RestartAllContainersOnContainerExits'

const mebibyte = 1_048_576

/** Some of a list, each by the same chance. */
export function some<T>(draw: Draw, from: readonly T[], probability = 0.5): T[] {
  return from.filter(() => draw.chance(probability))
}

/** A value, or nothing. */
export function maybe<T>(draw: Draw, probability: number, make: () => T): T | undefined {
  return draw.chance(probability) ? make() : undefined
}

export function drawNode(draw: Draw, name: string, density: number): Given {
  const zoneName = maybe(draw, 0.85, () => draw.pick(zones))
  const disk = maybe(draw, 0.7, () => draw.pick(disks))
  const rack = maybe(draw, 0.3, () => draw.pick(['r1', 'r2']))
  const size = maybe(draw, 0.6, () => String(draw.below(9) + 1))
  const taints = some(draw, taintKeys, 0.15 * density).map(key => ({
    key,
    ...(draw.chance(0.5) && { value: draw.pick(['x', 'y']) }),
    effect: draw.pick(density < 1 ? ['PreferNoSchedule'] : ['NoSchedule', 'PreferNoSchedule', 'NoExecute']),
  }))
  const [kind, object] = node(name, {
    cpu: draw.pick(['1', '2', '4', '1500m', '8']),
    memory: draw.pick(['2Gi', '4Gi', '8Gi', '3000Mi']),
    pods: draw.pick(['3', '6', '110', '110']),
    more: {
      ...(draw.chance(0.6) && { 'ephemeral-storage': draw.pick(['1Gi', '10Gi']) }),
      ...(draw.chance(0.4) && { [gpu]: String(draw.below(4)) }),
      ...(draw.chance(0.2) && { 'hugepages-2Mi': draw.pick(['4Mi', '64Mi']) }),
    },
    labels: {
      ...(zoneName && { [zone]: zoneName, 'topology.kubernetes.io/region': 'r' }),
      ...(disk && { disk }),
      ...(rack && { rack }),
      ...(size && { size }),
    },
    ...(taints.length > 0 && { taints }),
    ...(draw.chance(0.08 * density) && { unschedulable: true }),
    images: Object.fromEntries(
      some(draw, images, 0.4).map(image => [fullName(image), (draw.below(900) + 10) * mebibyte]),
    ),
  })
  const status = { ...(object.status as object), ...(draw.chance(0.4) && { declaredFeatures: [feature] }) }
  return [kind, { ...object, status }]
}

/** As kubelets report images. */
function fullName(image: string): string {
  return `docker.io/${image.includes(':') ? image : `${image}:latest`}`
}

export function drawBudget(draw: Draw, name: string): Given {
  const app = draw.pick(apps)
  return [
    PodDisruptionBudget,
    {
      metadata: { name, namespace: draw.pick(['default', 'default', 'other']) },
      spec: { minAvailable: 1, selector: draw.chance(0.9) ? { matchLabels: { app } } : {} },
      status: { disruptionsAllowed: draw.below(3), currentHealthy: 3, desiredHealthy: 1, expectedPods: 3 },
    },
  ]
}

/** Pods of services are spread even when they do not ask for it. */
export function drawService(draw: Draw, name: string): Given {
  const selector = { app: draw.pick(apps), ...(draw.chance(0.3) && { version: draw.pick(versions) }) }
  return [
    Service,
    {
      metadata: { name, namespace: 'default' },
      spec: { clusterIP: 'None', selector, ports: [{ port: 80 }] },
    },
  ]
}

export function drawRuntimeClass(draw: Draw, name: string): Given {
  return [
    RuntimeClass,
    {
      metadata: { name },
      handler: 'sandbox',
      overhead: { podFixed: { cpu: draw.pick(['100m', '1']), memory: '64Mi' } },
      ...(draw.chance(0.4) && {
        scheduling: {
          nodeSelector: { rack: draw.pick(['r1', 'r2']) },
          tolerations: [{ key: draw.pick(taintKeys), operator: 'Exists' }],
        },
      }),
    },
  ]
}
