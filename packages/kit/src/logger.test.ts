import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createLogger, type LogRecord, silentLogger } from './logger.ts'

describe('a logger', () => {
  it('hands level, message and fields to its sink', () => {
    const records: LogRecord[] = []
    const log = createLogger(record => records.push(record))
    log.debug('a')
    log.info('b', { x: 1 })
    log.warn('c')
    log.error('d', { error: 'e' })
    assert.deepEqual(records, [
      { level: 'debug', message: 'a', fields: {} },
      { level: 'info', message: 'b', fields: { x: 1 } },
      { level: 'warn', message: 'c', fields: {} },
      { level: 'error', message: 'd', fields: { error: 'e' } },
    ])
  })

  it('gives children the fields of all their parents; the nearest wins', () => {
    const records: LogRecord[] = []
    const parent = createLogger(record => records.push(record))
    const child = parent.child({ controller: 'at', key: 'a' }).child({ key: 'b' })
    child.info('m', { attempt: 2 })
    child.info('m', { key: 'c' })
    parent.info('m')
    assert.deepEqual(
      records.map(record => record.fields),
      [{ controller: 'at', key: 'b', attempt: 2 }, { controller: 'at', key: 'c' }, {}],
    )
  })

  it('can be silent, and so are its children', () => {
    assert.equal(silentLogger.child({ a: 1 }), silentLogger)
    silentLogger.error('nothing happens')
  })
})
