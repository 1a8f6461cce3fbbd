import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type AutoscalerV2, toV1, toV2 } from './versions.ts'

const target = { kind: 'Deployment', name: 'web', apiVersion: 'apps/v1' }

const autoscaler = (spec: AutoscalerV2['spec'], status: AutoscalerV2['status'] = {}): AutoscalerV2 => ({
  kind: 'HorizontalPodAutoscaler',
  apiVersion: 'autoscaling/v2',
  metadata: { name: 'a', namespace: 'n' },
  spec: { scaleTargetRef: target, minReplicas: 1, maxReplicas: 5, ...spec },
  status: { desiredReplicas: 0, currentMetrics: null, ...status },
})

describe('a horizontal pod autoscaler in version 1', () => {
  it('shows the utilization of CPUs as a field of its own', () => {
    const resource = { name: 'cpu', target: { type: 'Utilization', averageUtilization: 70 } }
    const converted = toV1(autoscaler({ metrics: [{ type: 'Resource', resource }] }))
    assert.equal(converted.spec?.targetCPUUtilizationPercentage, 70)
    assert.equal(converted.metadata.annotations, undefined)
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

  it('defaults to a utilization of 80 percent', () => {
    const { spec } = toV2({
      kind: 'HorizontalPodAutoscaler',
      apiVersion: 'autoscaling/v1',
      metadata: { name: 'a' },
      spec: { scaleTargetRef: target, maxReplicas: 3 },
    })
    assert.deepEqual(spec?.metrics, [
      {
        type: 'Resource',
        resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } },
      },
    ])
  })

  it('ignores annotations that cannot be decoded', () => {
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
    })
    assert.equal(spec?.metrics?.length, 1)
    assert.equal(spec.behavior, undefined)
  })

  it('ignores an annotation with a field of the wrong type', () => {
    const { spec, status } = toV2({
      kind: 'HorizontalPodAutoscaler',
      apiVersion: 'autoscaling/v1',
      metadata: {
        name: 'a',
        annotations: {
          'autoscaling.alpha.kubernetes.io/metrics': '[{"type":"Pods","pods":{"metricName":5}}]',
          'autoscaling.alpha.kubernetes.io/current-metrics': '[{"type":"Pods","pods":[]}]',
          'autoscaling.alpha.kubernetes.io/conditions': '[{"type":5}]',
          'autoscaling.alpha.kubernetes.io/behavior': '{"ScaleUp":{"Policies":[{"Value":"1"}]}}',
        },
      },
      spec: { scaleTargetRef: target, maxReplicas: 3, targetCPUUtilizationPercentage: 50 },
    })
    assert.equal(spec?.metrics?.length, 1)
    assert.equal(spec.behavior, undefined)
    assert.equal(status?.currentMetrics ?? undefined, undefined)
    assert.equal(status?.conditions, undefined)
  })

  it('reads the names of its behavior in any case', () => {
    const { spec } = toV2({
      kind: 'HorizontalPodAutoscaler',
      apiVersion: 'autoscaling/v1',
      metadata: {
        name: 'a',
        annotations: {
          'autoscaling.alpha.kubernetes.io/behavior': '{"SCALEUP":{"policies":[{"Type":"Pods","value":2}]}}',
        },
      },
      spec: { scaleTargetRef: target, maxReplicas: 3 },
    })
    assert.deepEqual(spec?.behavior, {
      scaleUp: { policies: [{ type: 'Pods', value: 2, periodSeconds: 0 }] },
    })
  })
})
