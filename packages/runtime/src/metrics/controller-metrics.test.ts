import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineOperator, requeueAfter } from '../index.ts'
import { Simulation, widgetKind } from '../test-support/simulation.ts'
import { createControllerMetrics } from './controller-metrics.ts'
import { MetricsRegistry } from './registry.ts'

describe('the metrics of a controller', () => {
  it("carry controller-runtime's names, labels and values", async () => {
    await using sim = new Simulation()
    const operator = defineOperator('metrics', builder => {
      builder
        .controller('widget')
        .for(widgetKind)
        .options({ concurrency: 2 })
        .reconcile(async ({ key, clock }) => {
          await clock.sleep(300)
          if (key.name === 'bad') throw new Error('bad')
          if (key.name === 'later') return requeueAfter(3_600_000)
          return undefined
        })
    })
    const { manager } = sim.start(operator)
    for (const name of ['good', 'bad', 'later']) sim.createWidget(name)
    await sim.world.advance(450)
    const during = manager.metrics.text()
    assert.match(during, /^controller_runtime_active_workers\{controller="widget"\} 2$/m)
    assert.match(during, /^workqueue_unfinished_work_seconds\{name="widget",controller="widget"\} 0\.295$/m)
    assert.match(during, /^workqueue_longest_running_processor_seconds\{.*\} 0\.15$/m)
    await sim.world.advance(200)
    const text = manager.metrics.text()
    for (const line of [
      'controller_runtime_reconcile_total{controller="widget",result="success"} 1',
      'controller_runtime_reconcile_total{controller="widget",result="error"} 2',
      'controller_runtime_reconcile_total{controller="widget",result="requeue_after"} 1',
      'controller_runtime_reconcile_errors_total{controller="widget"} 2',
      'controller_runtime_reconcile_panics_total{controller="widget"} 0',
      'controller_runtime_max_concurrent_reconciles{controller="widget"} 2',
      'controller_runtime_reconcile_time_seconds_bucket{controller="widget",le="0.25"} 0',
      'controller_runtime_reconcile_time_seconds_bucket{controller="widget",le="0.3"} 4',
      'workqueue_retries_total{name="widget",controller="widget"} 2',
      'workqueue_depth{name="widget",controller="widget",priority="-100"} 0',
      'rest_client_requests_total{code="200",method="GET"} 1',
    ]) {
      assert.ok(text.includes(`${line}\n`), `${line} is missing in\n${text}`)
    }
  })

  it('distinguish at most 25 priorities', () => {
    const registry = new MetricsRegistry()
    const { queue } = createControllerMetrics(registry, 'x')
    for (let priority = 0; priority < 100; priority++) queue.depthChanged(priority, 1)
    const lines = registry
      .text()
      .split('\n')
      .filter(line => line.startsWith('workqueue_depth{'))
    assert.equal(lines.length, 26)
    assert.ok(lines.at(-1)?.endsWith('priority="other"} 75'))
  })
})
