import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { MetricsRegistry } from './registry.ts'

describe('a metrics registry', () => {
  it('writes the text format', () => {
    const registry = new MetricsRegistry()
    const requests = registry.counter({
      name: 'requests_total',
      help: 'All \\ of\nthem',
      labels: ['code', 'path'],
    })
    requests.add(1, '200', '/a"b\\c\nd')
    requests.add(2, '200', '/a"b\\c\nd')
    registry.gauge({ name: 'active', help: 'Now' }).set(-1.5)
    const times = registry.histogram({
      name: 'time_seconds',
      help: 'Time',
      labels: ['verb'],
      buckets: [0.1, 1],
    })
    for (const value of [0.05, 0.1, 0.5, 7]) times.observe(value, 'get')
    assert.equal(
      registry.text(),
      [
        '# HELP active Now',
        '# TYPE active gauge',
        'active -1.5',
        '# HELP requests_total All \\\\ of\\nthem',
        '# TYPE requests_total counter',
        'requests_total{code="200",path="/a\\"b\\\\c\\nd"} 3',
        '# HELP time_seconds Time',
        '# TYPE time_seconds histogram',
        'time_seconds_bucket{verb="get",le="0.1"} 2',
        'time_seconds_bucket{verb="get",le="1"} 3',
        'time_seconds_bucket{verb="get",le="+Inf"} 4',
        'time_seconds_sum{verb="get"} 7.65',
        'time_seconds_count{verb="get"} 4',
        '',
      ].join('\n'),
    )
  })

  it('counts the same through a bound metric', () => {
    const registry = new MetricsRegistry()
    const requests = registry.counter({ name: 'n', help: '', labels: ['code', 'verb'] })
    requests.with('200', 'get').add(2)
    requests.add(1, '200', 'get')
    const times = registry.histogram({ name: 't', help: '', labels: ['verb'], buckets: [1] })
    times.with('get').observe(0.5)
    times.observe(7, 'get')
    assert.match(registry.text(), /^n\{code="200",verb="get"\} 3$/m)
    assert.match(registry.text(), /^t_bucket\{verb="get",le="1"\} 1$/m)
    assert.match(registry.text(), /^t_count\{verb="get"\} 2$/m)
  })

  it('shares a metric that is requested twice', () => {
    const registry = new MetricsRegistry()
    for (let i = 0; i < 2; i++) registry.counter({ name: 'n', help: '' }).add(1)
    assert.match(registry.text(), /^n 2$/m)
  })

  it('keeps a bounded number of series, and counts the rest as one', () => {
    const registry = new MetricsRegistry()
    const requests = registry.counter({ name: 'n', help: '', labels: ['path', 'code'] })
    const times = registry.histogram({ name: 't', help: '', labels: ['path'], buckets: [1] })
    for (let i = 0; i < 10_100; i++) {
      requests.add(1, `/${i}`, '200')
      times.observe(0.5, `/${i}`)
    }
    const text = registry.text()
    assert.match(text, /^n\{path="\/9999",code="200"\} 1$/m)
    assert.match(text, /^n\{path="other",code="other"\} 100$/m)
    assert.match(text, /^t_count\{path="other"\} 100$/m)
    assert.ok(text.split('\n').length < 10_001 * 5 + 10)
  })

  it('cuts off label values that are too long', () => {
    const registry = new MetricsRegistry()
    const requests = registry.counter({ name: 'n', help: '', labels: ['path'] })
    for (let i = 0; i < 10; i++) requests.add(1, 'x'.repeat(100_000 + i))
    assert.match(registry.text(), /^n\{path="x{1024}"\} 10$/m)
  })

  it('updates gauges before it writes', () => {
    const registry = new MetricsRegistry()
    const gauge = registry.gauge({ name: 'now', help: '' })
    let now = 1
    const stop = registry.onCollect(() => gauge.set(now))
    assert.match(registry.text(), /^now 1$/m)
    now = 2
    assert.match(registry.text(), /^now 2$/m)
    stop()
    now = 3
    assert.match(registry.text(), /^now 2$/m)
  })
})
