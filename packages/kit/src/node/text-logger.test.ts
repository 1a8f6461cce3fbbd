import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import { LogThreshold, markReported } from '../logger.ts'
import { createTextLogger, type TextLoggerOptions } from './text-logger.ts'

const collect = (options: TextLoggerOptions = {}) => {
  const lines: string[] = []
  const now = () => new Date(2026, 0, 2, 3, 4, 5, 6)
  const write = (text: string) => void lines.push(text)
  return { lines, log: createTextLogger({ colors: false, now, write, ...options }) }
}

describe('a text logger', () => {
  it('writes one line a record: time, level, object, message, fields', () => {
    const { log, lines } = collect()
    const controller = log.child({ operator: 'cnat', controller: 'at' })
    log.info('leading', { lease: 'cnat' })
    controller.info('reconciled', { key: 'default/web', duration: 12.3, triggers: [], calls: [1] })
    controller.warn('slow', { key: 'a', text: 'two words' })
    assert.deepEqual(lines, [
      '03:04:05.006 INFO  leading lease=cnat\n',
      '03:04:05.006 INFO  default/web reconciled controller=at duration=12ms calls=[1]\n',
      '03:04:05.006 WARN  a           slow controller=at text="two words"\n',
    ])
  })

  it('shows what triggered a reconcile and what it called in words', () => {
    const { log, lines } = collect()
    const triggers = [
      { type: 'Updated', object: 'Site default/shop', resourceVersion: '7' },
      { type: 'Retry' },
    ]
    const calls = [{ verb: 'apply', object: 'Deployment default/shop', duration: 4.2 }]
    log.info('reconciled', { triggers, calls, others: [null] })
    assert.deepEqual(lines, [
      '03:04:05.006 INFO  reconciled triggers=[Updated Site default/shop, Retry] calls=[apply Deployment default/shop] others=[null]\n',
    ])
  })

  it("shows the program's own line of an error, not the framework's frames", async () => {
    const folder = mkdtempSync(join(tmpdir(), 'coxswain-log-'))
    try {
      const file = join(folder, 'operator.mjs')
      writeFileSync(file, "export function reconcile() {\n  throw new TypeError('no size')\n}\n")
      const { reconcile } = await import(pathToFileURL(file).href)
      const { log, lines } = collect()
      try {
        reconcile()
      } catch (error) {
        log.error('reconcile failed', { key: 'default/web', error })
      }
      const [first, second, ...rest] = lines.join('').trimEnd().split('\n')
      assert.equal(first, '03:04:05.006 ERROR default/web reconcile failed: TypeError: no size')
      const place = `${relative(process.cwd(), file)}:2:9`
      assert.equal(second?.trim(), `at ${place} throw new TypeError('no size')`)
      assert.deepEqual(rest, [])
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it('says the cause of an error, and no line of one that was logged where it happened', () => {
    const { log, lines } = collect()
    const error = new Error('outer', { cause: new Error('inner') })
    markReported(error)
    log.warn('failed', { error })
    log.warn('failed', { error: 'text', triggers: [1], failures: 2 })
    assert.deepEqual(lines, [
      '03:04:05.006 WARN  failed: outer: inner\n',
      '03:04:05.006 WARN  failed: text failures=2\n',
    ])
  })

  it('lets no object or message command the terminal or begin another line', () => {
    const { log, lines } = collect()
    log.info('a\nb', { key: '\x1b[2Jx', value: `${'y'.repeat(500)}` })
    assert.match(lines[0]!, /^03:04:05\.006 INFO {2}\\x1b\[2Jx a b value=y{120}\.\.\.\n$/)
  })

  it('colors what a terminal shows', () => {
    const { log, lines } = collect({ colors: true })
    log.error('m')
    assert.ok(lines[0]?.includes('\x1b[31mERROR\x1b[0m'))
  })

  it('writes what its level admits now', () => {
    const level = new LogThreshold('warn')
    const { log, lines } = collect({ level })
    const child = log.child({ a: 1 })
    child.info('before')
    level.level = 'info'
    child.info('after')
    assert.equal(lines.length, 1)
    assert.deepEqual([level.cycle(), level.cycle(), level.cycle()], ['warn', 'error', 'debug'])
  })
})
