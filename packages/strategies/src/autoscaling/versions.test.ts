import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject } from '@coxswain/apimachinery/json'
import { toV1, toV2 } from './versions.ts'

const target = { kind: 'Deployment', name: 'web', apiVersion: 'apps/v1' }

const autoscaler = (spec: JsonObject, status: JsonObject = {}): JsonObject => ({
  kind: 'HorizontalPodAutoscaler',
  apiVersion: 'autoscaling/v2',
  metadata: { name: 'a', namespace: 'n' },
  spec: { scaleTargetRef: target, minReplicas: 1, maxReplicas: 5, ...spec },
  status: { desiredReplicas: 0, currentMetrics: null, ...status },
})

const annotationsOf = ({ metadata }: JsonObject) =>
  (metadata as { annotations?: JsonObject }).annotations ?? {}

describe('a horizontal pod autoscaler in version 1', () => {
  it('shows the utilization of CPUs as a field of its own', () => {
    const resource = { name: 'cpu', target: { type: 'Utilization', averageUtilization: 70 } }
    const converted = toV1(autoscaler({ metrics: [{ type: 'Resource', resource }] }))
    assert.equal((converted.spec as JsonObject).targetCPUUtilizationPercentage, 70)
    assert.deepEqual(annotationsOf(converted), {})
  })

  it('carries every other kind of metric, behavior and conditions there and back', () => {
    const metric = { name: 'm', selector: { matchLabels: { a: 'b' } } }
    const original = autoscaler(
      {
        metrics: [
          {
            type: 'Object',
            object: { describedObject: target, target: { type: 'Value', value: '5' }, metric },
          },
          { type: 'Pods', pods: { metric, target: { type: 'AverageValue', averageValue: '7' } } },
          {
            type: 'ContainerResource',
            containerResource: {
              name: 'memory',
              target: { type: 'Utilization', averageUtilization: 60 },
              container: 'c',
            },
          },
          { type: 'External', external: { metric, target: { type: 'AverageValue', averageValue: '1' } } },
        ],
        behavior: {
          scaleUp: { selectPolicy: 'Min', policies: [{ type: 'Pods', value: 2, periodSeconds: 30 }] },
        },
      },
      {
        currentMetrics: [
          {
            type: 'Resource',
            resource: { name: 'cpu', current: { averageUtilization: 40, averageValue: '1' } },
          },
        ],
        conditions: [
          { type: 'AbleToScale', status: 'True', lastTransitionTime: '2024-01-02T03:04:05Z', reason: 'R' },
        ],
      },
    )
    const back = toV2(toV1(original))
    assert.deepEqual(back, original)
  })

  it('asks for 80 percent when it says nothing', () => {
    const { spec } = toV2({
      kind: 'HorizontalPodAutoscaler',
      apiVersion: 'autoscaling/v1',
      metadata: { name: 'a' },
      spec: { scaleTargetRef: target, maxReplicas: 3 },
    }) as { spec: { metrics: JsonObject[] } }
    assert.deepEqual(spec.metrics, [
      {
        type: 'Resource',
        resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } },
      },
    ])
  })

  it('overlooks annotations that nobody can read', () => {
    const { spec } = toV2({
      kind: 'HorizontalPodAutoscaler',
      apiVersion: 'autoscaling/v1',
      metadata: {
        name: 'a',
        annotations: {
          'autoscaling.alpha.kubernetes.io/metrics': '{',
          'autoscaling.alpha.kubernetes.io/behavior': '7',
        },
      },
      spec: { scaleTargetRef: target, maxReplicas: 3, targetCPUUtilizationPercentage: 50 },
    }) as { spec: { metrics: JsonObject[]; behavior?: unknown } }
    assert.equal(spec.metrics.length, 1)
    assert.equal(spec.behavior, undefined)
  })
})
