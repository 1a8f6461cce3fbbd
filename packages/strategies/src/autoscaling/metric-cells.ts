import type { JsonObject } from '@coxswain/apimachinery/json'
import { objectOf } from '../shared/reading.ts'

const shown = 2
const unknown = '<unknown>'

/** What a table says about metrics: what they are and what they should be, the first two of them. */
export function printMetrics(metrics: readonly JsonObject[], statuses: readonly JsonObject[]): string {
  if (metrics.length === 0) return '<none>'
  const cells = metrics.map((metric, index) => printMetric(metric, statuses[index] ?? {}))
  const text = cells.slice(0, shown).join(', ')
  return cells.length > shown ? `${text} + ${cells.length - shown} more...` : text
}

const quantity = (value: unknown): string => String(value ?? '0')

function printMetric(metric: JsonObject, status: JsonObject): string {
  switch (metric.type) {
    case 'External':
      return printValue(objectOf(metric.external), status.external)
    case 'Object':
      return printValue(objectOf(metric.object), status.object)
    case 'Pods': {
      const target = objectOf(objectOf(metric.pods).target)
      const current = status.pods && quantity(objectOf(objectOf(status.pods).current).averageValue)
      return `${current ?? unknown}/${quantity(target.averageValue)}`
    }
    case 'Resource':
      return printResource(objectOf(metric.resource), status.resource)
    case 'ContainerResource':
      return printResource(objectOf(metric.containerResource), status.containerResource)
    default:
      return '<unknown type>'
  }
}

function printValue(source: JsonObject, status: unknown): string {
  const target = objectOf(source.target)
  const current = objectOf(objectOf(status).current)
  if (target.averageValue !== undefined)
    return `${current.averageValue ?? unknown}/${quantity(target.averageValue)} (avg)`
  return `${status === undefined ? unknown : quantity(current.value)}/${quantity(target.value)}`
}

function printResource(source: JsonObject, status: unknown): string {
  const target = objectOf(source.target)
  const current = objectOf(objectOf(status).current)
  if (target.averageValue !== undefined) {
    const value = status === undefined ? unknown : quantity(current.averageValue)
    return `${source.name}: ${value}/${quantity(target.averageValue)}`
  }
  const percent = (value: unknown, otherwise: string) => (value === undefined ? otherwise : `${value}%`)
  const wanted = percent(target.averageUtilization, '<auto>')
  return `${source.name}: ${percent(current.averageUtilization, unknown)}/${wanted}`
}
