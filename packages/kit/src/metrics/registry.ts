/** Names and values of labels, in the order of the metric's label names. */
export type LabelValues = readonly string[]

/** The description of a metric. */
export interface MetricOptions {
  readonly name: string
  readonly help: string
  readonly labels?: readonly string[]
}

/** The description and buckets of a histogram. */
export interface HistogramOptions extends MetricOptions {
  /** Upper bounds, ascending, without infinity. */
  readonly buckets: readonly number[]
}

/** A value that only increases. */
export interface Counter {
  add(amount: number, ...labels: string[]): void
  /** The counter with these labels, for frequent use: looking it up is the expensive part. */
  with(...labels: string[]): BoundCounter
}

/** A counter with fixed labels. */
export interface BoundCounter {
  add(amount: number): void
}

/** A value that can increase and decrease. */
export interface Gauge {
  set(value: number, ...labels: string[]): void
  add(amount: number, ...labels: string[]): void
}

/** Counts observed values in buckets. */
export interface Histogram {
  observe(value: number, ...labels: string[]): void
  /** As {@link Counter.with}. */
  with(...labels: string[]): BoundHistogram
}

/** A histogram with fixed labels. */
export interface BoundHistogram {
  observe(value: number): void
}

interface Metric {
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly options: MetricOptions
  lines(): Iterable<string>
}

/**
 * Metrics in memory and their text form (Prometheus exposition format 0.0.4). A metric without labels exists from the beginning;
 * one with labels from its first value.
 */
export class MetricsRegistry {
  readonly #metrics = new Map<string, Metric>()
  readonly #collectors = new Set<() => void>()

  counter(options: MetricOptions): Counter {
    const values = this.#values('counter', options)
    return {
      add: (amount, ...labels) => values.add(amount, labels),
      with: (...labels) => values.with(labels),
    }
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

  /** Calls `collect` before each `text`, to update gauges. Returns the function that stops this. */
  onCollect(collect: () => void): () => void {
    this.#collectors.add(collect)
    return () => this.#collectors.delete(collect)
  }

  /** All metrics, as `/metrics` serves them. */
  text(): string {
    for (const collect of this.#collectors) collect()
    let text = ''
    for (const metric of [...this.#metrics.values()].sort(byName)) {
      const { type, options } = metric
      text += `# HELP ${options.name} ${escapeHelp(options.help)}\n# TYPE ${options.name} ${type}\n`
      for (const line of metric.lines()) text += `${line}\n`
    }
    return text
  }

  #values(type: 'counter' | 'gauge', options: MetricOptions): ValueMetric {
    return this.#register(new ValueMetric(type, options))
  }

  /** An existing metric is shared: several operators may run in one process. */
  #register<M extends Metric>(metric: M): M {
    const existing = this.#metrics.get(metric.options.name)
    if (existing) return existing as M
    this.#metrics.set(metric.options.name, metric)
    return metric
  }
}

/**
 * A safeguard: labels should have small, fixed sets of values. Beyond this number of series the family counts everything else in
 * one series whose label values are all `other`.
 */
const maxSeries = 10_000
const maxValueLength = 1_024
const other = 'other'

/** The series of one family, by the values of their labels. */
class SeriesMap<S> {
  readonly #series = new Map<string, S>()
  readonly #create: (labels: LabelValues) => S

  constructor(create: (labels: LabelValues) => S) {
    this.#create = create
  }

  values(): Iterable<S> {
    return this.#series.values()
  }

  get(labels: LabelValues): S {
    return this.#series.get(labelKey(labels)) ?? this.#add(labels.map(shorten))
  }

  #add(labels: LabelValues): S {
    const key = labelKey(labels)
    const known = this.#series.get(key)
    if (known !== undefined) return known
    const isOther = labels.every(value => value === other)
    if (!isOther && this.#series.size >= maxSeries) return this.#add(labels.map(() => other))
    const series = this.#create(labels)
    this.#series.set(key, series)
    return series
  }
}

const shorten = (value: string): string =>
  value.length > maxValueLength ? value.slice(0, maxValueLength) : value

const byName = (a: Metric, b: Metric): number => (a.options.name < b.options.name ? -1 : 1)

class ValueMetric implements Metric {
  readonly type: 'counter' | 'gauge'
  readonly options: MetricOptions
  readonly #series = new SeriesMap(labels => ({ labels, value: 0 }))

  constructor(type: 'counter' | 'gauge', options: MetricOptions) {
    this.type = type
    this.options = options
    if (!options.labels?.length) this.#series.get([])
  }

  set(value: number, labels: LabelValues): void {
    this.#series.get(labels).value = value
  }

  add(amount: number, labels: LabelValues): void {
    this.#series.get(labels).value += amount
  }

  with(labels: LabelValues): BoundCounter {
    const entry = this.#series.get(labels)
    return {
      add(amount) {
        entry.value += amount
      },
    }
  }

  *lines(): Generator<string> {
    const { name } = this.options
    for (const { labels, value } of this.#series.values()) {
      yield `${name}${wrap(formatLabels(this.options, labels))} ${formatNumber(value)}`
    }
  }
}

interface HistogramValue {
  readonly labels: LabelValues
  readonly counts: number[]
  sum: number
  count: number
}

class HistogramMetric implements Metric, Histogram {
  readonly type = 'histogram'
  readonly options: HistogramOptions
  readonly #series: SeriesMap<HistogramValue>

  constructor(options: HistogramOptions) {
    this.options = options
    this.#series = new SeriesMap(labels => ({
      labels,
      counts: options.buckets.map(() => 0),
      sum: 0,
      count: 0,
    }))
  }

  observe(value: number, ...labels: string[]): void {
    this.#add(this.#series.get(labels), value)
  }

  with(...labels: string[]): BoundHistogram {
    const entry = this.#series.get(labels)
    return { observe: value => this.#add(entry, value) }
  }

  #add(entry: HistogramValue, value: number): void {
    const { buckets } = this.options
    entry.sum += value
    entry.count++
    for (let i = 0; i < buckets.length; i++) {
      if (value > buckets[i]!) continue
      entry.counts[i]!++
      return
    }
  }

  *lines(): Generator<string> {
    const { name, buckets } = this.options
    for (const { labels, counts, sum, count } of this.#series.values()) {
      const text = formatLabels(this.options, labels)
      const before = text === '' ? '' : `${text},`
      let total = 0
      for (const [index, bound] of buckets.entries()) {
        total += counts[index]!
        yield `${name}_bucket{${before}le="${formatNumber(bound)}"} ${total}`
      }
      yield `${name}_bucket{${before}le="+Inf"} ${count}`
      yield `${name}_sum${wrap(text)} ${formatNumber(sum)}`
      yield `${name}_count${wrap(text)} ${count}`
    }
  }
}

/** Tells label sets apart. */
function labelKey(labels: LabelValues): string {
  return labels.length === 1 ? labels[0]! : labels.join('\u0000')
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
