import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { markReported } from '../logger.ts'
import { createPinoLogger, type PinoLoggerOptions } from './pino-logger.ts'

const collect = (options: PinoLoggerOptions = {}) => {
  const lines: Record<string, unknown>[] = []
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) }
  return { log: createPinoLogger({ ...options, destination }), lines }
}

describe('a pino logger', () => {
  it('writes one JSON line a record: level by name, ISO time, message and fields', () => {
    const { log, lines } = collect()
    log.info('started', { port: 6443 })
    const [{ time, ...rest } = {}] = lines
    assert.deepEqual(rest, { level: 'info', msg: 'started', port: 6443 })
    assert.match(String(time), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  })

  it('leaves out what is below its level', () => {
    const { log, lines } = collect({ level: 'warn' })
    for (const level of ['debug', 'info', 'warn', 'error'] as const) log[level](level)
    assert.deepEqual(
      lines.map(line => line.level),
      ['warn', 'error'],
    )
  })

  it('adds the fields of a child to every record', () => {
    const { log, lines } = collect()
    log.child({ a: 1 }).child({ b: 2 }).warn('m', { c: 3 })
    const { a, b, c } = lines[0] ?? {}
    assert.deepEqual([a, b, c], [1, 2, 3])
  })

  it('writes each member of a line once, whatever parents and records are called', () => {
    const texts: string[] = []
    const log = createPinoLogger({ destination: { write: (line: string) => void texts.push(line) } })
    log
      .child({ controller: 'a', key: 1 })
      .child({ key: 2 })
      .info('m', { controller: 'b', level: 9, msg: 'x', time: 0 })
    const names = [...texts[0]!.matchAll(/"(\w+)":/g)].map(([, name]) => name)
    assert.deepEqual(names.toSorted(), [
      'controller',
      'key',
      'level',
      'level_',
      'msg',
      'msg_',
      'time',
      'time_',
    ])
    const { controller, key, level, msg } = JSON.parse(texts[0]!)
    assert.deepEqual([controller, key, level, msg], ['b', 2, 'info', 'm'])
  })

  it('names an error that was logged where it happened, without its stack', () => {
    const { log, lines } = collect()
    const error = new TypeError('gone', { cause: new Error('inner') })
    markReported(error)
    log.warn('failed', { error })
    assert.deepEqual(lines[0]?.error, { type: 'TypeError', message: 'gone' })
  })

  it('writes the stack and the cause of an error', () => {
    const { log, lines } = collect()
    log.error('failed', { error: new Error('outer', { cause: new Error('inner') }) })
    const error = lines[0]?.error as { type: string; message: string; stack: string }
    assert.equal(error.type, 'Error')
    assert.match(error.message, /outer/)
    assert.match(error.stack, /pino-logger\.test/)
    assert.match(error.stack, /inner/)
  })

  it('writes code and reason of an error with a Status, and not the Status beside the same message', () => {
    const { log, lines } = collect()
    const status = { kind: 'Status', metadata: {}, message: 'no', code: 409, reason: 'Conflict' }
    const error = Object.assign(new Error('no'), { status: Object.freeze(status) })
    log.error('failed', { error: Object.freeze(error) })
    const { stack, ...rest } = lines[0]!.error as Record<string, unknown>
    assert.deepEqual(rest, { type: 'Error', message: 'no', code: 409, reason: 'Conflict' })
    assert.match(String(stack), /pino-logger\.test/)
  })

  it('writes integers beyond 2^53 and circular fields without throwing', () => {
    const { log, lines } = collect()
    const circular: Record<string, unknown> = { big: 2n ** 60n }
    circular.self = circular
    log.info('m', { circular })
    assert.equal(lines.length, 1)
  })
})
