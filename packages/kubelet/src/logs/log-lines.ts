import type { LogOptions } from '../container-runtime.ts'

/**
 * One line of a stored container log, in the format of the container runtime interface:
 *
 *   2026-01-02T03:04:05.006000000Z stdout F the line
 *
 * `P` in place of `F` marks a partial line.
 */
export interface LogLine {
  readonly time: string
  readonly stream: string
  readonly partial: boolean
  readonly content: string
}

export function formatLogLine(
  milliseconds: number,
  stream: string,
  content: string,
  partial: boolean,
): string {
  const time = new Date(milliseconds).toISOString().replace('Z', '000000Z')
  return `${time} ${stream} ${partial ? 'P' : 'F'} ${content}\n`
}

/** Undefined for anything else. */
export function parseLogLine(line: string): LogLine | undefined {
  const match = /^(\S+) (stdout|stderr) ([FP])[^ ]* (.*)$/s.exec(line)
  if (!match) return undefined
  const [, time = '', stream = '', tag, content = ''] = match
  return { time, stream, partial: tag === 'P', content }
}

/** Filters and formats lines by the options, except for `tailLines`. */
export function createLogFilter(
  options: Pick<LogOptions, 'timestamps' | 'since' | 'stream'>,
): (line: string) => string {
  const { timestamps, since, stream } = options
  let inLine = false
  return text => {
    const line = parseLogLine(text)
    if (!line) return ''
    if (stream !== undefined && stream !== '' && stream !== 'All' && stream.toLowerCase() !== line.stream)
      return ''
    if (since !== undefined && Date.parse(line.time) < since) return ''
    const start = timestamps && !inLine ? `${line.time} ` : ''
    inLine = line.partial
    return `${start}${line.content}${line.partial ? '' : '\n'}`
  }
}
