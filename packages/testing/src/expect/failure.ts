import type { Event } from '@coxswain/api/core/v1'
import type { ApiObject } from '@coxswain/apimachinery/meta'
import { writeYaml } from '@coxswain/apimachinery/yaml'
import type { Mismatch } from './match-partial.ts'
import type { RecordedReconcile } from './reconcile-log.ts'

/** Why an object is not as expected. */
export interface Problem {
  readonly summary: string
  readonly details: readonly Mismatch[]
  readonly actual?: unknown
  readonly expected?: unknown
  readonly operator: string
}

export interface Failure {
  /** `Pod default/web`. */
  readonly what: string
  /** ` after 30 s`, or empty. */
  readonly when: string
  readonly problem: Problem
  readonly object: ApiObject | undefined
  readonly events: readonly Event[]
  readonly reconciles: readonly RecordedReconcile[]
}

/** How much of each part is printed: failures are read by people. */
const shown = { lines: 200, events: 20, reconciles: 10, valueLength: 500 }

/** What a person needs to find the reason: what differs, the object, its events and the last reconciles. */
export function describeFailure({ what, when, problem, object, events, reconciles }: Failure): string {
  const details = problem.details.map(
    ({ path, expected, actual }) =>
      `  ${path || '(the object)'}: expected ${print(expected)}, got ${print(actual)}`,
  )
  const head = `${what} ${problem.summary}${when}${details.length > 0 ? ':' : ''}`
  const sections = [[head, ...details].join('\n')]
  if (object) sections.push(printObject(object))
  sections.push(section('Events', events.slice(-shown.events).map(describeEvent)))
  sections.push(section('Last reconciles', reconciles.slice(-shown.reconciles).map(describeReconcile)))
  return sections.join('\n\n')
}

export function describeSeconds(ms: number): string {
  return `${Math.round(ms) / 1000} s`
}

function printObject(object: ApiObject): string {
  const { apiVersion, kind, metadata, ...rest } = object
  const { managedFields: _, ...shownMetadata } = metadata
  const lines = writeYaml({ apiVersion, kind, metadata: shownMetadata, ...rest })
    .trimEnd()
    .split('\n')
  const left = lines.length - shown.lines
  return left > 0 ? [...lines.slice(0, shown.lines), `... ${left} more lines`].join('\n') : lines.join('\n')
}

function section(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? `${title}: none` : [`${title}:`, ...lines.map(line => `  ${line}`)].join('\n')
}

function describeEvent({ type, reason, message, count, series, source, reportingComponent }: Event): string {
  const times = series?.count ?? count ?? 1
  const from = source?.component || reportingComponent
  return `${type} ${reason}${from ? ` (${from})` : ''}: ${message}${times > 1 ? ` (${times} times)` : ''}`
}

function describeReconcile(record: RecordedReconcile): string {
  const {
    operator,
    controller,
    key,
    started,
    duration,
    triggers,
    calls,
    result,
    requeueAfter,
    error,
    failures,
  } = record
  const time = new Date(started).toISOString()
  const causes = triggers.map(({ type, object }) => (object === undefined ? type : `${type} ${object}`))
  const parts = [`${time} ${operator} ${controller} ${key}: ${result}, ${Math.round(duration)} ms`]
  if (causes.length > 0) parts.push(`because of ${causes.join(', ')}`)
  if (requeueAfter !== undefined) parts.push(`again in ${describeSeconds(requeueAfter)}`)
  if (failures > 1) parts.push(`failed ${failures} times in a row`)
  const lines = [parts.join('; ')]
  for (const { verb, object, error: refusal } of calls)
    lines.push(`    ${verb} ${object}${refusal === undefined ? '' : `: ${refusal}`}`)
  if (error !== undefined)
    lines.push(`    ${error instanceof Error ? `${error.name}: ${error.message}` : error}`)
  return lines.join('\n')
}

function print(value: unknown): string {
  if (value === undefined) return 'nothing'
  const text = value instanceof RegExp ? String(value) : (JSON.stringify(value, printRegExp) ?? String(value))
  return text.length > shown.valueLength ? `${text.slice(0, shown.valueLength)}...` : text
}

function printRegExp(_key: string, value: unknown): unknown {
  return value instanceof RegExp ? String(value) : value
}
