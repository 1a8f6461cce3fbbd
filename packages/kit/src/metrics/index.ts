/**
 * Counting and its text form, for everything that serves `/metrics`.
 * @module
 */
export {
  type BoundCounter,
  type BoundHistogram,
  type Counter,
  type Gauge,
  type Histogram,
  type HistogramOptions,
  type LabelValues,
  type MetricOptions,
  MetricsRegistry,
} from './registry.ts'
