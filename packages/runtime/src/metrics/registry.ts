/** Names and values of labels, in the order of the metric's label names. */
export type LabelValues = readonly string[]

export interface MetricOptions {
  readonly name: string
  readonly help: string
  readonly labels?: readonly string[]
}

export interface HistogramOptions extends MetricOptions {
  /** Upper bounds, ascending, without infinity. */
  readonly buckets: readonly number[]
}

/** Something that only grows. */
export interface Counter {
  add(amount: number, ...labels: string[]): void
}

export interface Gauge {
  set(value: number, ...labels: string[]): void
  add(amount: number, ...labels: string[]): void
}

export interface Histogram {
  observe(value: number, ...labels: string[]): void
}

interface Metric {
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly options: MetricOptions
  lines(): Iterable<string>
}

/**
 * Metrics in memory and their text form (Prometheus exposition format 0.0.4). A metric without labels is there from the
 * beginning; one with labels once a value was given.
 */
export class MetricsRegistry {
  readonly #metrics = new Map<string, Metric>()
  readonly #collectors = new Set<() => void>()

  counter(options: MetricOptions): Counter {
    const values = this.#values('counter', options)
    return { add: (amount, ...labels) => values.add(amount, labels) }
  }

  gauge(options: MetricOptions): Gauge {
    const values = this.#values('gauge', options)
    return {
      set: (value, ...labels) => values.set(value, labels),
      add: (amount, ...labels) => values.add(amount, labels),
    }
  }

  histogram(options: HistogramOptions): Histogram {
    const metric = new HistogramMetric(options)
    return this.#register(metric)
  }

  /** Calls `collect` before each `text`, to bring gauges up to date. Returns the way to stop that. */
  onCollect(collect: () => void): () => void {
    this.#collectors.add(collect)
    return () => this.#collectors.delete(collect)
  }

  /** All metrics, as `/metrics` serves them. */
  text(): string {
    for (const collect of this.#collectors) collect()
    let text = ''
    for (const { type, options, lines } of [...this.#metrics.values()].sort(byName)) {
      text += `# HELP ${options.name} ${escapeHelp(options.help)}\n# TYPE ${options.name} ${type}\n`
      for (const line of lines()) text += `${line}\n`
    }
    return text
  }

  #values(type: 'counter' | 'gauge', options: MetricOptions): ValueMetric {
    return this.#register(new ValueMetric(type, options))
  }

  /** A metric that is there already is shared: several operators may run in one process. */
  #register<M extends Metric>(metric: M): M {
    const existing = this.#metrics.get(metric.options.name)
    if (existing) return existing as M
    this.#metrics.set(metric.options.name, metric)
    return metric
  }
}

const byName = (a: Metric, b: Metric): number => (a.options.name < b.options.name ? -1 : 1)

class ValueMetric implements Metric {
  readonly type: 'counter' | 'gauge'
  readonly options: MetricOptions
  readonly #values = new Map<string, number>()

  constructor(type: 'counter' | 'gauge', options: MetricOptions) {
    this.type = type
    this.options = options
    if (!options.labels?.length) this.#values.set('', 0)
  }

  set(value: number, labels: LabelValues): void {
    this.#values.set(formatLabels(this.options, labels), value)
  }

  add(amount: number, labels: LabelValues): void {
    const key = formatLabels(this.options, labels)
    this.#values.set(key, (this.#values.get(key) ?? 0) + amount)
  }

  readonly lines = function* (this: ValueMetric): Generator<string> {
    for (const [labels, value] of this.#values)
      yield `${this.options.name}${wrap(labels)} ${formatNumber(value)}`
  }.bind(this)
}

interface HistogramValue {
  readonly counts: number[]
  sum: number
  count: number
}

class HistogramMetric implements Metric, Histogram {
  readonly type = 'histogram'
  readonly options: HistogramOptions
  readonly #values = new Map<string, HistogramValue>()

  constructor(options: HistogramOptions) {
    this.options = options
  }

  observe(value: number, ...labels: string[]): void {
    const { buckets } = this.options
    const key = formatLabels(this.options, labels)
    let entry = this.#values.get(key)
    if (!entry) {
      entry = { counts: buckets.map(() => 0), sum: 0, count: 0 }
      this.#values.set(key, entry)
    }
    entry.sum += value
    entry.count++
    const index = buckets.findIndex(bound => value <= bound)
    if (index >= 0) entry.counts[index]!++
  }

  readonly lines = function* (this: HistogramMetric): Generator<string> {
    const { name, buckets } = this.options
    for (const [labels, { counts, sum, count }] of this.#values) {
      const before = labels === '' ? '' : `${labels},`
      let total = 0
      for (const [index, bound] of buckets.entries()) {
        total += counts[index]!
        yield `${name}_bucket{${before}le="${formatNumber(bound)}"} ${total}`
      }
      yield `${name}_bucket{${before}le="+Inf"} ${count}`
      yield `${name}_sum${wrap(labels)} ${formatNumber(sum)}`
      yield `${name}_count${wrap(labels)} ${count}`
    }
  }.bind(this)
}

function formatLabels({ labels = [] }: MetricOptions, values: LabelValues): string {
  return labels.map((label, index) => `${label}="${escapeValue(values[index] ?? '')}"`).join(',')
}

function wrap(labels: string): string {
  return labels === '' ? '' : `{${labels}}`
}

function escapeValue(value: string): string {
  return value.replace(/[\\"\n]/g, found => (found === '\n' ? '\\n' : `\\${found}`))
}

function escapeHelp(help: string): string {
  return help.replace(/[\\\n]/g, found => (found === '\n' ? '\\n' : '\\\\'))
}

function formatNumber(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf'
  return value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value)
}
