import { isDeepStrictEqual } from 'node:util'
import { writeJson } from '@coxswain/apimachinery/json'
import { dig } from './case.ts'
import { causesOf } from './compare.ts'
import type { Played, Scenario, WatchedEvent, WatchRecord, WatchStep } from './scenario.ts'

/** What differs from the recording, in words; of texts of errors nothing is said. */
export function compareWatches(scenario: Scenario, played: Played): string[] {
  const found: string[] = []
  const check = (what: string, want: unknown, got: unknown) => {
    if (isDeepStrictEqual(want, got)) return
    found.push(`${what}: want ${writeJson(want ?? null)}, got ${writeJson(got ?? null)}`)
  }
  for (const [index, want] of scenario.answers.entries()) {
    const got = played.answers[index] ?? {}
    const step = `step ${index}`
    if (want.status !== undefined) check(`${step} status`, want.status, got.status)
    if (want.body !== undefined) check(`${step} body`, simplify(want.body), simplify(got.body))
    if (want.true !== undefined) check(`${step} ${writeJson(scenario.steps[index])}`, want.true, got.true)
    if (want.statuses !== undefined) check(`${step} statuses`, want.statuses, got.statuses)
    if (got.timeout && !want.timeout) found.push(`${step} ${writeJson(scenario.steps[index])}: not in time`)
  }
  const steps = new Map(scenario.steps.flatMap(step => ('watch' in step ? [[step.watch, step]] : [])))
  for (const [name, want] of Object.entries(scenario.watches)) {
    const got = played.watches[name]
    if (got) compareWatch(scenario, { name, step: steps.get(name)!, want, got: likened(want, got) }, check)
    else found.push(`no watch ${name}`)
  }
  return found
}

type Check = (what: string, want: unknown, got: unknown) => void

interface Pair {
  readonly name: string
  readonly step: WatchStep
  readonly want: WatchRecord
  readonly got: WatchRecord
}

function compareWatch(scenario: Scenario, { name, step, want, got }: Pair, check: Check): void {
  check(`${name} status`, want.status, got.status)
  check(`${name} content type`, want.contentType, got.contentType)
  check(`${name} is one document`, want.transfer === 'length', got.transfer === 'length')
  if (want.body !== undefined) {
    check(`${name} body`, simplify(want.body), simplify(got.body))
    return
  }
  const order = (events: readonly WatchedEvent[] = []) =>
    step.unordered ? events.toSorted((a, b) => (writeJson(a) < writeJson(b) ? -1 : 1)) : events
  const wanted = order(want.events)
  const seen = order(got.events)
  check(`${name} events`, wanted.map(summary), seen.map(summary))
  if (!scenario.unstable && isDeepStrictEqual(wanted.map(summary), seen.map(summary))) {
    for (const [index, event] of wanted.entries()) {
      check(`${name} event ${index} object`, simplify(event.object), simplify(seen[index]!.object))
      check(`${name} event ${index} frame`, event.frame, seen[index]!.frame)
      check(`${name} event ${index} version`, event.rv, seen[index]!.rv)
    }
  }
  check(`${name} end`, want.end, got.end)
  // Never too early; on a machine that has a lot else to do, a little late.
  const late = (got.seconds ?? -99) - (want.seconds ?? 0)
  if (want.seconds !== undefined && (late < -1 || late > 10))
    check(`${name} seconds`, want.seconds, got.seconds)
  compareBookmarks(scenario, { name, step, want, got }, check)
}

function compareBookmarks(scenario: Scenario, { name, want, got }: Pair, check: Check): void {
  if (want.bookmarks) {
    if (want.bookmarks.atLeast > 0 && !got.bookmarks) check(`${name} bookmarks`, want.bookmarks, undefined)
    else if (got.bookmarks) check(`${name} bookmark`, want.bookmarks.like.object, got.bookmarks.like.object)
  } else if (got.bookmarks && !scenario.tolerant) check(`${name} bookmarks`, undefined, got.bookmarks)
}

const summary = (event: WatchedEvent) => {
  const name =
    dig(event, 'object.metadata.name') ??
    dig(event, 'object.rows.0.object.metadata.name') ??
    dig(event, 'object.reason')
  return `${event.type} ${name ?? ''}`
}

/** Of an error, what a program depends on. */
function simplify(value: unknown): unknown {
  if (dig(value, 'kind') !== 'Status' || dig(value, 'status') === 'Success') return value
  return {
    kind: 'Status',
    code: dig(value, 'code'),
    reason: dig(value, 'reason'),
    causes: causesOf(value),
  }
}

/** JSON where it was as welcome as protobuf: as much of each event as is looked at in a protobuf one. */
function likened(want: WatchRecord, got: WatchRecord): WatchRecord {
  if (!want.contentType.includes('protobuf') || got.contentType !== 'application/json') return got
  if (!want.events) return got
  const shorten = (event: WatchedEvent): WatchedEvent => {
    const metadata = (dig(event, 'object.metadata') ?? {}) as Record<string, unknown>
    const kept = ['name', 'namespace', 'resourceVersion', 'annotations'].filter(key => key in metadata)
    return {
      ...event,
      object: {
        apiVersion: dig(event, 'object.apiVersion'),
        kind: dig(event, 'object.kind'),
        metadata: Object.fromEntries(kept.map(key => [key, metadata[key]])),
      },
    }
  }
  return { ...got, contentType: want.contentType, events: (got.events ?? []).map(shorten) }
}
