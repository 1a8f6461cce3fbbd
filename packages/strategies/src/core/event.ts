import type { Event } from '@coxswain/api/core/v1'
import type { FieldError } from '@coxswain/apimachinery/field'
import * as field from '@coxswain/apimachinery/field'
import { deepEqual, isObject } from '@coxswain/apimachinery/json'
import { formatAge } from '@coxswain/apimachinery/time'
import {
  isDNS1123Subdomain,
  isQualifiedName,
  nameIsDNSSubdomain,
  nameIsPathSegment,
} from '@coxswain/apimachinery/validation'
import type { Decoded } from '../decoded.ts'
import { defineStrategy } from '../define-strategy.ts'
import { nameCell } from '../shared/cells.ts'
import { goValue } from '../shared/go-value.ts'
import { type Findings, invalidBecause, numberOf, printed } from '../shared/reading.ts'
import type { Strategy, TableCells } from '../strategy.ts'
import { convertEvent, isCoreEvent, toCoreEvent } from './event-versions.ts'

/** How long an event is kept, in milliseconds. */
export const defaultEventTtl = 3_600_000

const involvedFields = [
  'kind',
  'namespace',
  'name',
  'uid',
  'apiVersion',
  'resourceVersion',
  'fieldPath',
] as const
const maxShort = 128
const maxNote = 1024

/** Two groups serve the same events under different field names. The rules use those of the core group. */
export function createEventStrategy(group: '' | 'events.k8s.io', ttl: number): Strategy {
  const isCore = group === ''
  return defineStrategy<Event>({
    ttl,
    createOnUpdate: true,
    propagation: 'unsupported',
    validateName: isCore ? nameIsPathSegment : nameIsDNSSubdomain,
    convert: convertEvent,
    validate(object, _context, old) {
      const event = toCoreEvent(object)
      const errors = [...validateEvent(event, isCore)]
      return old || isCore ? errors : [...errors, ...validateNewEvent(event)]
    },
    validateUpdate: (object, old) => (isCore ? [] : validateKept(toCoreEvent(object), toCoreEvent(old))),
    fields: selectEvent,
    cells: printEvent,
  })
}

const isUnset = (time: unknown): boolean => time === undefined || time === null

function* validateEvent(event: Decoded<Event>, isCore: boolean): Findings {
  const namespace = event.metadata.namespace ?? ''
  const involved = event.involvedObject?.namespace ?? ''
  const isHome = involved === '' && namespace === 'default'
  const mismatch = field.invalid(
    field.Path.of('involvedObject', 'namespace'),
    involved,
    'does not match event.namespace',
  )
  if (isUnset(event.eventTime)) {
    if (namespace !== involved && !isHome) yield mismatch
  } else {
    if (involved === '' && !isHome && namespace !== 'kube-system') yield mismatch
    yield* validateReport(event, isCore)
  }
  yield* invalidBecause(field.Path.of('namespace'), namespace, isDNS1123Subdomain(namespace))
}

/** The fields that events.k8s.io requires. */
function* validateReport(event: Decoded<Event>, isCore: boolean): Findings {
  const controller = event.reportingComponent ?? ''
  const path = field.Path.of(isCore ? 'reportingComponent' : 'reportingController')
  if (controller === '') yield field.required(path)
  yield* invalidBecause(path, controller, isQualifiedName(controller))
  for (const member of ['reportingInstance', 'action', 'reason'] as const) {
    const at = field.Path.of(member)
    const value = event[member] ?? ''
    if (value === '') yield field.required(at)
    if (value.length > maxShort) yield field.invalid(at, '', `can have at most ${maxShort} characters`)
  }
  if ((event.message ?? '').length > maxNote)
    yield field.invalid(field.Path.of('message'), '', `can have at most ${maxNote} characters`)
}

function* validateSeries({ series }: Decoded<Event>): Findings {
  if (!series) return
  if (numberOf(series.count) < 2)
    yield field.invalid(field.Path.of('series.count'), '', 'should be at least 2')
  if (isUnset(series.lastObservedTime)) yield field.required(field.Path.of('series.lastObservedTime'))
}

/** events.k8s.io does not allow the deprecated fields. */
function* validateNewEvent(event: Decoded<Event>): Findings {
  yield* validateSeries(event)
  if (isUnset(event.eventTime)) yield field.required(field.Path.of('eventTime'))
  if (event.type !== 'Normal' && event.type !== 'Warning')
    yield field.invalid(field.Path.of('type'), '', `has invalid value: ${event.type ?? ''}`)
  const source = event.source ?? {}
  const set: readonly [string, boolean][] = [
    ['firstTimestamp', !isUnset(event.firstTimestamp)],
    ['lastTimestamp', !isUnset(event.lastTimestamp)],
    ['count', numberOf(event.count) !== 0],
    ['source', (source.component ?? '') !== '' || (source.host ?? '') !== ''],
  ]
  for (const [member, isSet] of set)
    if (isSet) yield field.invalid(field.Path.of(member), '', 'needs to be unset')
}

/** In the order in which upstream compares them, under its names. */
const keptMembers: readonly [string, (event: Decoded<Event>) => unknown][] = [
  ['involvedObject', event => goValue('core.ObjectReference', event.involvedObject ?? {})],
  ['reason', event => event.reason ?? ''],
  ['message', event => event.message ?? ''],
  ['source', event => goValue('core.EventSource', event.source ?? {})],
  ['firstTimestamp', event => event.firstTimestamp ?? null],
  ['lastTimestamp', event => event.lastTimestamp ?? null],
  ['count', event => event.count ?? 0],
  ['reason', event => event.reason ?? ''],
  ['type', event => event.type ?? ''],
  ['eventTime', event => event.eventTime ?? null],
  ['action', event => event.action ?? ''],
  ['related', event => (event.related ? goValue('core.ObjectReference', event.related) : null)],
  ['reportingController', event => event.reportingComponent ?? ''],
  ['reportingInstance', event => event.reportingInstance ?? ''],
]

/** Only the series of an event can change. */
function validateKept(event: Decoded<Event>, old: Decoded<Event>): FieldError[] {
  const errors = deepEqual(event.series ?? null, old.series ?? null) ? [] : [...validateSeries(event)]
  for (const [name, read] of keptMembers) {
    const value = read(event)
    if (deepEqual(value, read(old))) continue
    errors.push(
      field.invalid(field.Path.of(name), isObject(value) ? printed(value) : value, 'field is immutable'),
    )
  }
  return errors
}

/** The selectable fields under the names of both groups, which share stored events. */
function selectEvent(object: Decoded<Event>): Readonly<Record<string, string>> {
  const event = toCoreEvent(object)
  const fields: Record<string, string> = {}
  for (const name of involvedFields) {
    const value = event.involvedObject?.[name] ?? ''
    fields[`involvedObject.${name}`] = value
    fields[`regarding.${name}`] = value
  }
  const reporter = event.reportingComponent ?? ''
  return {
    ...fields,
    reason: event.reason ?? '',
    type: event.type ?? '',
    source: (event.source?.component ?? '') || reporter,
    reportingComponent: reporter,
    reportingController: reporter,
  }
}

function printEvent(object: Decoded<Event>, now: number): TableCells {
  const event = isCoreEvent(object) ? object : toCoreEvent(object)
  const { series } = event
  const age = (time: string | null | undefined) => formatAge(time || undefined, now)
  const first = isUnset(event.firstTimestamp) ? event.eventTime : event.firstTimestamp
  const last = series ? series.lastObservedTime : isUnset(event.lastTimestamp) ? first : event.lastTimestamp
  const { kind, name, fieldPath } = event.involvedObject ?? {}
  const source = event.source ?? {}
  const host = (source.host ?? '') || (event.reportingInstance ?? '')
  const component = (source.component ?? '') || (event.reportingComponent ?? '')
  return {
    'Last Seen': age(last),
    Type: event.type ?? '',
    Reason: event.reason ?? '',
    Object: (name ?? '') === '' ? (kind ?? '').toLowerCase() : `${(kind ?? '').toLowerCase()}/${name ?? ''}`,
    Subobject: fieldPath ?? '',
    Source: host === '' ? component : `${component}, ${host}`,
    Message: (event.message ?? '').trim(),
    'First Seen': age(first),
    Count: series ? numberOf(series.count) : numberOf(event.count) || 1,
    Name: nameCell(object),
  }
}
