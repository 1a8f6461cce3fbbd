import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Deployment } from '@coxswain/api/apps/v1'
import { HorizontalPodAutoscaler, type HorizontalPodAutoscalerSpec } from '@coxswain/api/autoscaling/v2'
import { Event, Pod } from '@coxswain/api/core/v1'
import { formatTime } from '@coxswain/apimachinery/time'
import {
  createHorizontalPodAutoscalerController,
  createServiceAccountController,
} from '@coxswain/controllers'
import { VirtualWorld } from '@coxswain/kit'
import { type Cluster, startCluster } from '@coxswain/testing'
import { scenariosOf } from '@coxswain/testing/test-support/play'

const namespace = 'default'
const key = { namespace, name: 'web' }
const labels = { app: 'web' }

/** The responses of the metrics APIs, by path. */
type Metrics = Record<string, unknown>

interface Stage {
  readonly cluster: Cluster
  /** May be changed during the scenario. */
  readonly metrics: Metrics
}

interface Given {
  readonly pods?: number
  readonly replicas?: number
  readonly spec: Partial<HorizontalPodAutoscalerSpec>
}

async function stageWith(given: Given, body: (stage: Stage) => Promise<void>): Promise<void> {
  await using cluster = await startCluster({ env: new VirtualWorld({ seed: 3 }), controllers: false })
  cluster.start(createServiceAccountController()) // pods need a service account
  await cluster.advance(1_000)
  const stage = await setUp(cluster, given)
  cluster.start(createHorizontalPodAutoscalerController())
  await body(stage)
}

/** A deployment with pods, an autoscaler, and adjustable metrics. */
async function setUp(cluster: Cluster, { pods = 2, replicas = pods, spec }: Given): Promise<Stage> {
  const metrics: Metrics = {}
  cluster.intercept(async (request, next) => {
    if (!request.path.includes('metrics.k8s.io')) return await next(request)
    const answer = metrics[request.path.split('?')[0]!]
    const found = answer ?? {
      kind: 'Status',
      apiVersion: 'v1',
      status: 'Failure',
      code: 404,
      reason: 'NotFound',
      message: 'the server could not find the requested resource',
    }
    const headers = { 'content-type': 'application/json' }
    return { status: answer ? 200 : 404, headers, body: new TextEncoder().encode(JSON.stringify(found)) }
  })
  const { client } = cluster
  await cluster.run(
    client.create(Deployment, {
      metadata: key,
      spec: {
        replicas,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      },
    }),
  )
  await cluster.run(
    client.patch(Deployment, key, { status: { replicas: pods } }, { type: 'merge', subresource: 'status' }),
  )
  const started = formatTime(cluster.env.clock.now())
  for (let index = 0; index < pods; index++) {
    const name = `web-${index}`
    await cluster.run(
      client.create(Pod, {
        metadata: { name, namespace, labels },
        spec: { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '1' } } }] },
      }),
    )
    const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: started }]
    const status = { phase: 'Running', startTime: started, conditions }
    await cluster.run(
      client.patch(Pod, { namespace, name }, { status }, { type: 'merge', subresource: 'status' }),
    )
  }
  await cluster.advance(600_000)
  const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }
  await cluster.run(
    client.create(HorizontalPodAutoscaler, {
      metadata: key,
      spec: { scaleTargetRef, minReplicas: 1, maxReplicas: 10, ...spec },
    }),
  )
  return { cluster, metrics }
}

const podsPath = '/apis/metrics.k8s.io/v1beta1/namespaces/default/pods'

/** The usage of each pod of the stage. */
function usageOf({ cluster }: Stage, usage: Record<string, string>, pods: number) {
  return {
    items: Array.from({ length: pods }, (_, index) => ({
      metadata: { name: `web-${index}` },
      timestamp: formatTime(cluster.env.clock.now()),
      window: '30s',
      containers: [{ name: 'c', usage }],
    })),
  }
}

const cpuAt50: Partial<HorizontalPodAutoscalerSpec> = {
  metrics: [
    { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
  ],
}

const replicasOf = async (cluster: Cluster) =>
  (await cluster.run(cluster.client.get(Deployment, key)))?.spec?.replicas

const statusOf = async (cluster: Cluster) =>
  (await cluster.run(cluster.client.get(HorizontalPodAutoscaler, key)))?.status

/** `Type=Status Reason`. */
const conditionsOf = async (cluster: Cluster) =>
  ((await statusOf(cluster))?.conditions ?? []).map(
    ({ type, status, reason }) => `${type}=${status} ${reason}`,
  )

const eventsOf = async (cluster: Cluster) =>
  (await cluster.run(cluster.client.list(Event, { namespace }))).items.map(
    ({ reason, message }) => `${reason}: ${message}`,
  )

describe('horizontal pod autoscaling', () => {
  it('scales up when pods use more than the target, with status and events', async () => {
    await stageWith({ spec: cpuAt50 }, async stage => {
      const { cluster, metrics } = stage
      metrics[podsPath] = usageOf(stage, { cpu: '800m' }, 2)
      await cluster.advance(5_000)
      assert.equal(await replicasOf(cluster), 4)
      const status = await statusOf(cluster)
      assert.equal(status?.currentReplicas, 2)
      assert.equal(status?.desiredReplicas, 4)
      assert.ok(status?.lastScaleTime)
      assert.deepEqual(status?.currentMetrics, [
        {
          type: 'Resource',
          resource: { name: 'cpu', current: { averageUtilization: 80, averageValue: '800m' } },
        },
      ])
      assert.deepEqual(await conditionsOf(cluster), [
        'AbleToScale=True SucceededRescale',
        'ScalingActive=True ValidMetricFound',
        'ScalingLimited=False DesiredWithinRange',
      ])
      assert.ok(
        (await eventsOf(cluster)).includes(
          'SuccessfulRescale: New size: 4; reason: cpu resource utilization (percentage of request) above target',
        ),
      )
    })
  })

  it('changes and writes nothing within a tenth of the target', async () => {
    await stageWith({ spec: cpuAt50 }, async stage => {
      const { cluster, metrics } = stage
      metrics[podsPath] = usageOf(stage, { cpu: '540m' }, 2)
      await cluster.advance(5_000)
      const before = await cluster.run(cluster.client.get(HorizontalPodAutoscaler, key))
      await cluster.advance(60_000)
      const after = await cluster.run(cluster.client.get(HorizontalPodAutoscaler, key))
      assert.equal(await replicasOf(cluster), 2)
      assert.equal(after?.metadata.resourceVersion, before?.metadata.resourceVersion)
      assert.deepEqual(await conditionsOf(cluster), [
        'AbleToScale=True ReadyForNewScale',
        'ScalingActive=True ValidMetricFound',
        'ScalingLimited=False DesiredWithinRange',
      ])
    })
  })

  it('scales down only after five minutes', async () => {
    await stageWith({ pods: 4, spec: cpuAt50 }, async stage => {
      const { cluster, metrics } = stage
      metrics[podsPath] = usageOf(stage, { cpu: '100m' }, 4)
      await cluster.advance(60_000)
      assert.equal(await replicasOf(cluster), 4)
      assert.ok((await conditionsOf(cluster)).includes('AbleToScale=True ScaleDownStabilized'))
      await cluster.advance(300_000)
      assert.equal(await replicasOf(cluster), 1)
      assert.ok(
        (await eventsOf(cluster)).includes(
          'SuccessfulRescale: New size: 1; reason: All metrics below target',
        ),
      )
    })
  })

  it('at most doubles the pods at once, and stops at the maximum', async () => {
    await stageWith({ pods: 3, spec: { ...cpuAt50, maxReplicas: 7 } }, async stage => {
      const { cluster, metrics } = stage
      metrics[podsPath] = usageOf(stage, { cpu: '2' }, 3)
      await cluster.advance(5_000)
      assert.equal(await replicasOf(cluster), 6)
      assert.ok((await conditionsOf(cluster)).includes('ScalingLimited=True ScaleUpLimit'))
      await cluster.advance(15_000)
      assert.equal(await replicasOf(cluster), 7)
      assert.ok((await conditionsOf(cluster)).includes('ScalingLimited=True TooManyReplicas'))
    })
  })

  it('reports why it does nothing while there are no metrics', async () => {
    await stageWith({ spec: cpuAt50 }, async ({ cluster }) => {
      await cluster.advance(5_000)
      assert.deepEqual(await conditionsOf(cluster), [
        'AbleToScale=True SucceededGetScale',
        'ScalingActive=False FailedGetResourceMetric',
      ])
      const message = (await statusOf(cluster))?.conditions?.[1]?.message
      assert.match(
        message ?? '',
        /^the HPA was unable to compute the replica count: failed to get cpu utilization: unable to get metrics for resource cpu: unable to fetch metrics from resource metrics API: /,
      )
      const events = await eventsOf(cluster)
      assert.ok(
        events.some(text => text.startsWith('FailedGetResourceMetric: failed to get cpu utilization: ')),
      )
      const whole =
        'FailedComputeMetricsReplicas: invalid metrics (1 invalid out of 1), first error is: failed to get cpu '
      assert.ok(events.some(text => text.startsWith(`${whole}resource metric value: `)))
    })
  })

  it('reports that a pod requests none of the measured resource', async () => {
    const target = { type: 'Utilization', averageUtilization: 50 }
    await stageWith(
      { spec: { metrics: [{ type: 'Resource', resource: { name: 'memory', target } }] } },
      async stage => {
        stage.metrics[podsPath] = usageOf(stage, { memory: '1Gi' }, 2)
        await stage.cluster.advance(5_000)
        const message = (await statusOf(stage.cluster))?.conditions?.[1]?.message ?? ''
        assert.match(message, /missing request for memory in container c of Pod web-\d$/)
      },
    )
  })

  it('scales into the range without reading metrics', async () => {
    await stageWith({ pods: 1, spec: { ...cpuAt50, minReplicas: 3 } }, async ({ cluster }) => {
      await cluster.advance(5_000)
      assert.equal(await replicasOf(cluster), 3)
      assert.ok(
        (await eventsOf(cluster)).includes(
          'SuccessfulRescale: New size: 3; reason: Current number of replicas below Spec.MinReplicas',
        ),
      )
    })
  })

  it('does nothing for a target that was scaled to zero', async () => {
    await stageWith({ pods: 0, spec: cpuAt50 }, async ({ cluster }) => {
      await cluster.advance(5_000)
      assert.equal(await replicasOf(cluster), 0)
      assert.ok((await conditionsOf(cluster)).includes('ScalingActive=False ScalingDisabled'))
    })
  })

  it('reports that its target does not exist', async () => {
    const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'gone' }
    await stageWith({ spec: { ...cpuAt50, scaleTargetRef } }, async ({ cluster }) => {
      await cluster.advance(5_000)
      assert.deepEqual(await conditionsOf(cluster), ['AbleToScale=False FailedGetScale'])
      assert.equal(
        (await statusOf(cluster))?.conditions?.[0]?.message,
        'the HPA controller was unable to get the target\'s current scale: deployments.apps "gone" not found',
      )
    })
  })

  it('follows an average value, of one container, of pods, of an object and an external metric', async () => {
    const metrics: HorizontalPodAutoscalerSpec['metrics'] = [
      {
        type: 'ContainerResource',
        containerResource: {
          name: 'cpu',
          container: 'c',
          target: { type: 'AverageValue', averageValue: '400m' },
        },
      },
      {
        type: 'Pods',
        pods: { metric: { name: 'rps' }, target: { type: 'AverageValue', averageValue: '10' } },
      },
      {
        type: 'Object',
        object: {
          describedObject: { apiVersion: 'v1', kind: 'Service', name: 'front' },
          metric: { name: 'hits' },
          target: { type: 'Value', value: '100' },
        },
      },
      {
        type: 'External',
        external: {
          metric: { name: 'queue', selector: { matchLabels: { q: 'a' } } },
          target: { type: 'AverageValue', averageValue: '20' },
        },
      },
    ]
    await stageWith({ spec: { metrics } }, async stage => {
      const { cluster } = stage
      const timestamp = formatTime(cluster.env.clock.now())
      stage.metrics[podsPath] = usageOf(stage, { cpu: '400m' }, 2)
      const custom = '/apis/custom.metrics.k8s.io/v1beta2/namespaces/default'
      stage.metrics[`${custom}/pods/*/rps`] = {
        items: [0, 1].map(index => ({ describedObject: { name: `web-${index}` }, timestamp, value: '10' })),
      }
      stage.metrics[`${custom}/services/front/hits`] = {
        items: [{ describedObject: { name: 'front' }, timestamp, value: '100' }],
      }
      stage.metrics['/apis/external.metrics.k8s.io/v1beta1/namespaces/default/queue'] = {
        items: [{ value: '30' }, { value: '30' }],
      }
      await cluster.advance(5_000)
      assert.equal(await replicasOf(cluster), 3)
      assert.deepEqual((await statusOf(cluster))?.currentMetrics, [
        {
          type: 'ContainerResource',
          containerResource: { name: 'cpu', container: 'c', current: { averageValue: '400m' } },
        },
        { type: 'Pods', pods: { metric: { name: 'rps' }, current: { averageValue: '10' } } },
        {
          type: 'Object',
          object: {
            describedObject: { apiVersion: 'v1', kind: 'Service', name: 'front' },
            metric: { name: 'hits' },
            current: { value: '100' },
          },
        },
        {
          type: 'External',
          external: {
            metric: { name: 'queue', selector: { matchLabels: { q: 'a' } } },
            current: { averageValue: '30' },
          },
        },
      ])
      const text =
        'external metric queue(&LabelSelector{MatchLabels:map[string]string{q: a,},MatchExpressions:[]LabelSelectorRequirement{},})'
      assert.ok(
        (await eventsOf(cluster)).includes(`SuccessfulRescale: New size: 3; reason: ${text} above target`),
      )
    })
  })

  it('scales no faster than its policies, and not down at all when that is disabled', async () => {
    const behavior = {
      scaleUp: { policies: [{ type: 'Pods', value: 1, periodSeconds: 60 }] },
      scaleDown: { selectPolicy: 'Disabled' },
    }
    await stageWith({ spec: { ...cpuAt50, behavior } }, async stage => {
      const { cluster, metrics } = stage
      metrics[podsPath] = usageOf(stage, { cpu: '4' }, 2)
      await cluster.advance(50_000)
      assert.equal(await replicasOf(cluster), 3)
      assert.ok((await conditionsOf(cluster)).includes('ScalingLimited=True ScaleUpLimit'))
      await cluster.advance(30_000)
      assert.equal(await replicasOf(cluster), 4)
      metrics[podsPath] = usageOf(stage, { cpu: '1m' }, 2)
      await cluster.advance(600_000)
      assert.equal(await replicasOf(cluster), 4)
      assert.ok((await conditionsOf(cluster)).includes('ScalingLimited=True ScaleDownLimit'))
    })
  })

  it('rejects pods that another autoscaler controls', async () => {
    await stageWith({ spec: cpuAt50 }, async stage => {
      const { cluster, metrics } = stage
      metrics[podsPath] = usageOf(stage, { cpu: '500m' }, 2)
      const first = await cluster.run(cluster.client.get(HorizontalPodAutoscaler, key))
      await cluster.run(
        cluster.client.create(HorizontalPodAutoscaler, {
          metadata: { ...key, name: 'too' },
          spec: first!.spec,
        }),
      )
      await cluster.advance(40_000)
      assert.ok((await conditionsOf(cluster)).includes('ScalingActive=False AmbiguousSelector'))
    })
  })
})

describe('horizontal pod autoscaling, with faults injected into its controller', () => {
  const scenario = scenariosOf('horizontal-pod-autoscaler-controller', {
    controllers: () => [createHorizontalPodAutoscalerController()],
    others: () => [createServiceAccountController()],
    hasHousekeeping: false,
    look: async cluster => [await replicasOf(cluster), ...(await conditionsOf(cluster))],
  })
  /** Every pod uses this share of its CPU, repeatedly. */
  const use = (stage: Stage, cpu: string, pods: number) => {
    stage.metrics[podsPath] = usageOf(stage, { cpu }, pods)
  }
  const [isAble, isActive, isFree] = [
    'AbleToScale=True ReadyForNewScale',
    'ScalingActive=True ValidMetricFound',
    'ScalingLimited=False DesiredWithinRange',
  ]

  scenario('scales up as needed, and no further', {
    act: async cluster => {
      const stage = await setUp(cluster, { spec: cpuAt50 })
      use(stage, '800m', 2)
      await cluster.advance(120_000)
      const status = { replicas: 4 }
      await cluster.run(
        cluster.client.patch(Deployment, key, { status }, { type: 'merge', subresource: 'status' }),
      )
      use(stage, '500m', 2)
      await cluster.advance(600_000)
    },
    end: [4, isAble, isActive, isFree],
  })

  scenario('scales down eventually', {
    act: async cluster => {
      const stage = await setUp(cluster, { pods: 4, spec: cpuAt50 })
      use(stage, '100m', 4)
      await cluster.advance(900_000)
    },
    end: [1, isAble, isActive, isFree],
  })

  scenario('stops at the maximum', {
    act: async cluster => {
      const stage = await setUp(cluster, { pods: 3, spec: { ...cpuAt50, maxReplicas: 7 } })
      use(stage, '2', 3)
      await cluster.advance(120_000)
    },
    end: [7, isAble, isActive, 'ScalingLimited=True TooManyReplicas'],
  })

  scenario('does not scale down when that is disabled', {
    act: async cluster => {
      const behavior = { scaleDown: { selectPolicy: 'Disabled' } }
      const stage = await setUp(cluster, { pods: 4, spec: { ...cpuAt50, behavior } })
      use(stage, '1m', 4)
      await cluster.advance(900_000)
    },
    end: [4, isAble, isActive, 'ScalingLimited=True ScaleDownLimit'],
  })

  scenario('reports why it cannot scale, and continues when it can', {
    act: async cluster => {
      const stage = await setUp(cluster, { spec: cpuAt50 })
      await cluster.advance(60_000)
      use(stage, '500m', 2)
      await cluster.advance(60_000)
    },
    end: [2, isAble, isActive, isFree],
  })

  scenario('leaves a target that was scaled to zero alone', {
    act: cluster => setUp(cluster, { pods: 0, spec: cpuAt50 }),
    end: [0, 'AbleToScale=True SucceededGetScale', 'ScalingActive=False ScalingDisabled'],
  })
})
