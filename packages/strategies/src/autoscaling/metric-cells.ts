import type {
  ExternalMetricSource,
  MetricSpec,
  MetricStatus,
  MetricValueStatus,
  ResourceMetricSource,
} from '@coxswain/api/autoscaling/v2'
import type { Decoded } from '../decoded.ts'

const shown = 2
const unknown = '<unknown>'

/** The current and desired values of the first two metrics, and how many more there are. */
export function printMetrics(
  metrics: readonly Decoded<MetricSpec>[],
  statuses: readonly Decoded<MetricStatus>[],
): string {
  if (metrics.length === 0) return '<none>'
  const cells = metrics.map((metric, index) => printMetric(metric, statuses[index] ?? {}))
  const text = cells.slice(0, shown).join(', ')
  return cells.length > shown ? `${text} + ${cells.length - shown} more...` : text
}

const quantity = (value: string | undefined): string => value ?? '0'

function printMetric(metric: Decoded<MetricSpec>, status: Decoded<MetricStatus>): string {
  switch (metric.type) {
    case 'External':
      return printValue(metric.external, status.external)
    case 'Object':
      return printValue(metric.object, status.object)
    case 'Pods': {
      const current = status.pods ? quantity(status.pods.current?.averageValue) : unknown
      return `${current}/${quantity(metric.pods?.target?.averageValue)}`
    }
    case 'Resource':
      return printResource(metric.resource, status.resource)
    case 'ContainerResource':
      return printResource(metric.containerResource, status.containerResource)
    default:
      return '<unknown type>'
  }
}

type Current = { readonly current?: Decoded<MetricValueStatus> } | undefined

function printValue(
  source: Decoded<Pick<ExternalMetricSource, 'target'>> | undefined,
  status: Current,
): string {
  const target = source?.target ?? {}
  const current = status?.current ?? {}
  if (target.averageValue !== undefined)
    return `${current.averageValue ?? unknown}/${quantity(target.averageValue)} (avg)`
  return `${status === undefined ? unknown : quantity(current.value)}/${quantity(target.value)}`
}

function printResource(source: Decoded<ResourceMetricSource> | undefined, status: Current): string {
  const target = source?.target ?? {}
  const current = status?.current ?? {}
  if (target.averageValue !== undefined) {
    const value = status === undefined ? unknown : quantity(current.averageValue)
    return `${source?.name}: ${value}/${quantity(target.averageValue)}`
  }
  const percent = (value: number | undefined, otherwise: string) =>
    value === undefined ? otherwise : `${value}%`
  const desired = percent(target.averageUtilization, '<auto>')
  return `${source?.name}: ${percent(current.averageUtilization, unknown)}/${desired}`
}
