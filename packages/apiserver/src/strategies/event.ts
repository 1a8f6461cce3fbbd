import { formatAge } from '../handlers/age.ts'
import type { JsonObject } from '../json.ts'
import type { Strategy } from '../registry/strategy.ts'

/** How long an event is kept, in milliseconds. */
export const defaultEventTtl = 3_600_000

interface Event {
  readonly metadata: { readonly name: string; readonly creationTimestamp?: string }
  readonly involvedObject?: {
    readonly kind?: string
    readonly name?: string
    readonly fieldPath?: string
    readonly [field: string]: unknown
  }
  readonly source?: { readonly component?: string; readonly host?: string }
  readonly type?: string
  readonly reason?: string
  readonly message?: string
  readonly count?: number
  readonly firstTimestamp?: string | null
  readonly lastTimestamp?: string | null
  readonly eventTime?: string | null
  readonly series?: { readonly count?: number; readonly lastObservedTime?: string }
  readonly reportingComponent?: string
}

const involvedFields = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath']

export function createEventStrategy(ttl: number): Strategy {
  return { ttl, fields: selectEvent, cells: printEvent }
}

function selectEvent(object: JsonObject): Readonly<Record<string, string>> {
  const event = object as unknown as Event
  const fields: Record<string, string> = {}
  for (const name of involvedFields)
    fields[`involvedObject.${name}`] = String(event.involvedObject?.[name] ?? '')
  return {
    ...fields,
    reason: event.reason ?? '',
    type: event.type ?? '',
    reportingComponent: event.reportingComponent ?? '',
    source: event.source?.component || event.reportingComponent || '',
  }
}

function printEvent(object: JsonObject, now: number): readonly unknown[] {
  const event = object as unknown as Event
  const first = event.firstTimestamp ?? event.eventTime ?? undefined
  const last = event.series?.lastObservedTime ?? event.lastTimestamp ?? first
  const { kind = '', name = '', fieldPath = '' } = event.involvedObject ?? {}
  const source = [event.source?.component ?? event.reportingComponent ?? '', event.source?.host ?? ''].filter(
    Boolean,
  )
  return [
    formatAge(last, now),
    event.type ?? '',
    event.reason ?? '',
    `${kind.toLowerCase()}/${name}`,
    fieldPath,
    source.join(', '),
    (event.message ?? '').trim(),
    formatAge(first, now),
    event.series?.count ?? event.count ?? 1,
    event.metadata.name,
  ]
}
