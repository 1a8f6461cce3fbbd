export {
  type Counter,
  type Gauge,
  type Histogram,
  type HistogramOptions,
  type LabelValues,
  type MetricOptions,
  MetricsRegistry,
} from '@coxswain/kit/metrics'
