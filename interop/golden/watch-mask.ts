import { dig, type Names } from './case.ts'
import { Mask } from './mask.ts'
import type { WatchedEvent } from './scenario.ts'
import type { WatchStream } from './watch-stream.ts'

const initialEventsEnd = 'k8s.io/initial-events-end'

/** Masks events: a version is that of a write, or unknown. */
export class WatchMask extends Mask {
  protected override version(value: string, ofList: boolean): string {
    const found = ofList
      ? undefined
      : this.saved.find(([name, saved]) => saved === value && name.startsWith('rv'))
    return found ? `{{${found[0]}}}` : '<rv>'
  }

  override text(given: string, message = false): string {
    const text = message
      ? given.replace(
          /(resource version: |revision: |current: )\d+( \(\d+\))?/g,
          (_, head: string, tail?: string) => `${head}<rv>${tail ? ' (<rv>)' : ''}`,
        )
      : given
    return super.text(text, message)
  }

  override value(value: unknown, key = '', ofList = false): unknown {
    const masked = super.value(value, key, ofList)
    const version = dig(value, 'metadata.resourceVersion')
    // A Table in an event stands for one object, not for a list.
    if (dig(value, 'kind') !== 'Table' || !version || dig(value, 'items')) return masked
    const table = masked as { metadata: object }
    return {
      ...table,
      metadata: { ...table.metadata, resourceVersion: this.version(String(version), false) },
    }
  }
}

export function versionOf(event: WatchedEvent): number | undefined {
  const own = dig(event, 'object.metadata.resourceVersion')
  const isNumber = (value: unknown): value is string => typeof value === 'string' && /^\d+$/.test(value)
  if (isNumber(own)) return Number(own)
  const ofRow = dig(event, 'object.rows.0.object.metadata.resourceVersion')
  return dig(event, 'object.kind') === 'Table' && isNumber(ofRow) ? Number(ofRow) : undefined
}

/** Whether it is a bookmark that comes from time to time, not the one that ends the initial events. */
export function isPeriodicBookmark(event: WatchedEvent): boolean {
  const annotations =
    dig(event, 'object.metadata.annotations') ?? dig(event, 'object.rows.0.object.metadata.annotations')
  return event.type === 'BOOKMARK' && !(initialEventsEnd in ((annotations as object | undefined) ?? {}))
}

/** The events of a watch, masked, with the relations of their versions to those of the writes; periodic bookmarks apart. */
export function maskEvents(
  watch: WatchStream,
  mask: WatchMask,
  context: { names: Names; loose: boolean },
): { events: WatchedEvent[]; bookmarks: WatchedEvent[] } {
  const versions = Object.entries(context.names)
    .filter(([name, value]) => name.startsWith('rv') && /^\d+$/.test(value))
    .map(([name, value]) => [name, Number(value)] as const)
    .sort((a, b) => a[1] - b[1])
  const found = { events: [] as WatchedEvent[], bookmarks: [] as WatchedEvent[] }
  let newest = 0
  let previous: number | undefined
  for (const event of watch.events) {
    const version = versionOf(event)
    const masked = mask.value(event) as WatchedEvent
    if (event.type === 'BOOKMARK') {
      const covered = versions.filter(
        ([name, value]) =>
          version !== undefined && (name in watch.names || value <= newest) && value <= version,
      )
      const newestCovered = firstOf(covered, covered.at(-1)?.[1])
      const relation =
        version !== undefined && version < newest
          ? 'older than an event before'
          : newestCovered && `>= {{${newestCovered}}}`
      const marked = { ...hideVersions(masked), ...(relation && { rv: relation }) }
      if (isPeriodicBookmark(event)) {
        found.bookmarks.push(marked)
        continue
      }
      found.events.push(marked)
    } else if (version !== undefined && !context.loose && !versions.some(([, value]) => value === version)) {
      const rv = relate(version, versions, previous)
      found.events.push({ ...masked, ...(rv && { rv }) })
    } else found.events.push(masked)
    newest = Math.max(newest, version ?? 0)
    previous = version ?? previous
  }
  return found
}

function relate(
  version: number,
  versions: readonly (readonly [string, number])[],
  previous: number | undefined,
): string {
  const below = versions.findLast(([, value]) => value < version)
  const above = versions.find(([, value]) => value > version)
  return [
    ...(below ? [`> {{${firstOf(versions, below[1])}}}`] : []),
    ...(above ? [`< {{${above[0]}}}`] : []),
    ...(previous === undefined
      ? []
      : [`${version > previous ? '>' : version === previous ? '=' : '<'} previous`]),
  ].join(', ')
}

/** Of several names of one version, the first that was saved. */
const firstOf = (versions: readonly (readonly [string, number])[], version: number | undefined) =>
  versions.find(([, value]) => value === version)?.[0]

function hideVersions(event: WatchedEvent): WatchedEvent {
  const copy = structuredClone(event) as { object?: Shown & { rows?: { object?: Shown }[] } }
  for (const shown of [copy.object, copy.object?.rows?.[0]?.object])
    if (shown?.metadata?.resourceVersion) shown.metadata.resourceVersion = '<rv>'
  return copy as WatchedEvent
}

interface Shown {
  metadata?: { resourceVersion?: string }
}
