import {
  createLogger,
  isReported,
  type LogFields,
  type Logger,
  type LogLevel,
  LogThreshold,
} from '../logger.ts'
import { findOwnLine } from './own-line.ts'

/** Options of a text logger. */
export interface TextLoggerOptions {
  /** A level, or one that changes while the program runs. @default 'info' */
  readonly level?: LogLevel | LogThreshold
  /** @default what standard error shows: a terminal, and no NO_COLOR */
  readonly colors?: boolean
  /** @default standard error */
  readonly write?: (text: string) => void
  /** @default the real one */
  readonly now?: () => Date
}

const gray = 90
const levelColors: Readonly<Record<LogLevel, number>> = { debug: gray, info: 36, warn: 33, error: 31 }
/** The column of objects grows with them, up to this width. */
const widestObject = 40
/** Longer values of fields are cut: the JSON form has them in full. */
const longestValue = 120
/** Said in other words, or of no use to people who read along. */
const hidden: ReadonlySet<string> = new Set(['key', 'error', 'started', 'operator'])
/** Of less use beside an error. */
const hiddenWithError: ReadonlySet<string> = new Set(['triggers', 'calls', 'result'])

/**
 * Lines for people: time, level, the object, what happened, fields. An error is followed by the line of the program's own
 * source that it comes from.
 */
export function createTextLogger(options: TextLoggerOptions = {}): Logger {
  const { level = 'info', now = () => new Date() } = options
  const {
    colors = process.stderr.isTTY === true && !process.env.NO_COLOR,
    write = text => void process.stderr.write(text),
  } = options
  const threshold = typeof level === 'string' ? new LogThreshold(level) : level
  const paint = (color: number, text: string): string => (colors ? `\x1b[${color}m${text}\x1b[0m` : text)
  let width = 0
  return createLogger(record => {
    if (!threshold.admits(record.level)) return
    const { key, error } = record.fields
    const object = key === undefined ? '' : plain(String(key))
    width = Math.min(widestObject, Math.max(width, object.length))
    const columns = [
      paint(gray, formatTime(now())),
      paint(levelColors[record.level], record.level.toUpperCase().padEnd(5)),
      ...(width > 0 ? [paint(1, object.padEnd(width))] : []),
      plain(record.message) + (error === undefined ? '' : `: ${describeError(error)}`),
      paint(gray, formatFields(record.fields)),
    ]
    const line = columns.join(' ').trimEnd()
    const own = error instanceof Error && !isReported(error) ? findOwnLine(error) : undefined
    const source =
      own && `${' '.repeat(13)}${paint(gray, `at ${plain(own.place)}`)} ${plain(own.text)}`.trimEnd()
    write(source === undefined ? `${line}\n` : `${line}\n${source}\n`)
  })
}

function formatTime(time: Date): string {
  const two = (value: number, length = 2) => String(value).padStart(length, '0')
  return `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}.${two(time.getMilliseconds(), 3)}`
}

/** `TypeError: x is not a function: the cause`; a plain Error, and what is none, without its type. */
function describeError(error: unknown): string {
  if (!(error instanceof Error)) return plain(String(error))
  const { name, message, cause } = error
  const own = name === 'Error' ? message : `${name}: ${message}`
  return plain(cause instanceof Error && !own.includes(cause.message) ? `${own}: ${cause.message}` : own)
}

function formatFields(fields: LogFields): string {
  const isHidden = (name: string): boolean =>
    hidden.has(name) || (fields.error !== undefined && hiddenWithError.has(name))
  return Object.entries(fields)
    .filter(([name, value]) => !isHidden(name) && value !== undefined && !isEmpty(value))
    .map(([name, value]) => `${name}=${formatValue(name, value)}`)
    .join(' ')
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}

function formatValue(name: string, value: unknown): string {
  if (typeof value === 'number' && (name === 'duration' || name === 'requeueAfter'))
    return `${Math.round(value)}ms`
  const text = typeof value === 'string' ? value : (describeSteps(value) ?? toJson(value))
  const shown = text.length > longestValue ? `${text.slice(0, longestValue)}...` : text
  return plain(typeof value === 'string' && /[\s"=]/.test(shown) ? JSON.stringify(shown) : shown)
}

/** Triggers and calls of a reconcile: `[Updated Site default/shop, apply Deployment default/shop]`; undefined for other values. */
function describeSteps(value: unknown): string | undefined {
  if (!Array.isArray(value)) return undefined
  const steps = (value as ({ type?: string; verb?: string; object?: string } | null)[]).map(each => {
    const { type, verb = type, object } = each ?? {}
    return typeof verb === 'string' ? [verb, object].filter(Boolean).join(' ') : undefined
  })
  return steps.includes(undefined) ? undefined : `[${steps.join(', ')}]`
}

function toJson(value: unknown): string {
  try {
    return (
      JSON.stringify(value, (_, member) => (typeof member === 'bigint' ? String(member) : member)) ??
      String(value)
    )
  } catch {
    return String(value)
  }
}

/** On one line, and without what a terminal would take for a command. */
function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return text.replace(/\s*[\r\n]+\s*/g, ' ').replace(/[\x00-\x1f\x7f-\x9f]/g, escapeCharacter)
}

function escapeCharacter(character: string): string {
  return `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`
}
