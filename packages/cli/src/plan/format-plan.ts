import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { writeYaml } from '@coxswain/apimachinery/yaml'
import { comparable, type PlannedWrite, type Preview } from '@coxswain/simulator'

export interface FormatPlanOptions {
  /** Whether a change was played. */
  readonly hasChange: boolean
  readonly operators: readonly string[]
}

/** The plan for people: each write with its time, its line of source and a diff. */
export function formatPlan(preview: Preview, { hasChange, operators }: FormatPlanOptions): string {
  const who = operators.join(', ')
  const writes = hasChange ? preview.after : preview.before
  const lines: string[] = []
  if (hasChange && preview.before.length > 0)
    lines.push(
      `Without the change, ${who} would write ${preview.before.length} times already (coxswain plan without -f shows it).`,
      '',
    )
  if (writes.length === 0) lines.push(`${who} would change nothing.`)
  else {
    lines.push(`${who} would, in this order:`, '')
    for (const write of writes) for (const line of [...formatWrite(write), '']) lines.push(line)
    lines.push(summaryOf(writes, preview))
  }
  for (const line of formatOutside(preview)) lines.push(line)
  return `${lines.join('\n')}\n`
}

/** The plan for programs. */
export function planToJson(preview: Preview, { hasChange }: Pick<FormatPlanOptions, 'hasChange'>): object {
  const hide = (writes: readonly PlannedWrite[]) =>
    writes.map(({ before, after, sent, ...write }) => ({
      ...write,
      ...(sent && { sent: shown(sent) }),
      ...(before && { before: shown(before) }),
      ...(after && { after: shown(after) }),
    }))
  const { before, after, outside, isSettled, duration } = preview
  return {
    writes: hide(hasChange ? after : before),
    outsideCalls: outside,
    ...(hasChange && { writesWithoutChange: hide(before) }),
    settled: isSettled,
    durationMilliseconds: duration,
  }
}

/** So many calls of outside services are printed. */
const mostOutside = 50

function formatOutside({ outside }: Preview): string[] {
  if (outside.length === 0) return []
  const shown = outside.slice(0, mostOutside).map(({ time, method, url }) => {
    return `${formatTime(time).padStart(13)}  ${method} ${url}`
  })
  const more = outside.length - shown.length
  return [
    '',
    'It would call services outside of the cluster. These requests were not sent; stand-ins answered them:',
    '',
    ...shown,
    ...(more > 0 ? [`              and ${more} more`] : []),
  ]
}

function summaryOf(writes: readonly PlannedWrite[], { isSettled, duration }: Preview): string {
  const count = (action: PlannedWrite['action']) => writes.filter(each => each.action === action).length
  const counts = `${count('create')} to create, ${count('change')} to change, ${count('delete')} to delete`
  const failed = count('fail') > 0 ? `, ${count('fail')} that fail` : ''
  const end = isSettled ? `the last after ${formatTime(duration)}` : 'not at rest within the time of --for'
  return `${counts}${failed}; ${end}.`
}

const verbs = { create: 'create', change: 'change', delete: 'delete', fail: 'fail to write' } as const
const marks = { create: '+', change: '~', delete: '-', fail: '!' } as const

function formatWrite(write: PlannedWrite): string[] {
  const { action, time, kind, namespace, name = '', subresource, line } = write
  const where = [namespace, name].filter(Boolean).join('/')
  const part = subresource === undefined ? '' : ` (${subresource})`
  const source = line === undefined ? '' : `  ${line}`
  const head = `${marks[action]} ${formatTime(time).padStart(9)}  ${verbs[action]} ${kind} ${where}${part}${source}`
  return [head, ...detailsOf(write).map(text => `              ${text}`)]
}

function detailsOf({ action, before, after, sent = after }: PlannedWrite): string[] {
  if (action === 'fail') return [`! ${String(after?.message ?? 'no reason was given')}`]
  if (action === 'delete') return []
  if (action === 'create') return yamlLines(sent).map(text => `+ ${text}`)
  return differences(before, after)
}

function yamlLines(object: JsonObject | undefined): string[] {
  if (!object) return []
  const { metadata, ...rest } = shown(object)
  const { uid: _, creationTimestamp: __, ...kept } = metadata as JsonObject
  return writeYaml({ ...rest, metadata: kept })
    .trimEnd()
    .split('\n')
}

/** Fields that differ, `-` before and `+` after. */
function differences(before: JsonObject | undefined, after: JsonObject | undefined): string[] {
  const [old, now] = [flatten(before), flatten(after)]
  const paths = [...new Set([...old.keys(), ...now.keys()])].sort()
  return paths.flatMap(path => {
    const [was, is] = [old.get(path), now.get(path)]
    if (was === is) return []
    return [
      ...(was === undefined ? [] : [`- ${path}: ${was}`]),
      ...(is === undefined ? [] : [`+ ${path}: ${is}`]),
    ]
  })
}

function flatten(object: JsonObject | undefined): Map<string, string> {
  const fields = new Map<string, string>()
  const visit = (value: unknown, path: string): void => {
    if (Array.isArray(value) && value.length > 0)
      for (const [index, item] of value.entries()) visit(item, `${path}[${index}]`)
    else if (isObject(value) && Object.keys(value).length > 0)
      for (const [key, member] of Object.entries(value)) visit(member, path === '' ? key : `${path}.${key}`)
    else fields.set(path, JSON.stringify(value))
  }
  if (object) visit(shown(object), '')
  return fields
}

/** The object without what the server sets, and without the values of Secrets: that they change is shown, not to what. */
function shown(object: JsonObject): JsonObject {
  const rest = comparable(object)
  if (rest.kind !== 'Secret') return rest
  const hidden = (value: unknown) =>
    isObject(value)
      ? Object.fromEntries(Object.entries(value).map(([key, text]) => [key, fingerprint(String(text))]))
      : value
  return {
    ...rest,
    ...('data' in rest && { data: hidden(rest.data) as JsonObject }),
    ...('stringData' in rest && { stringData: hidden(rest.stringData) as JsonObject }),
  }
}

/** Tells two values apart without showing them. */
function fingerprint(text: string): string {
  return `<hidden, ${text.length} characters>`
}

function formatTime(ms: number): string {
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`
  const minutes = Math.floor(ms / 60_000)
  const seconds = Math.round((ms % 60_000) / 1000)
  return minutes < 60 ? `${minutes} min ${seconds} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
