import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'

const program = fileURLToPath(new URL('../../packages/coxswain/bin/coxswain.js', import.meta.url))
const framework = pathToFileURL(
  fileURLToPath(new URL('../../packages/coxswain/src/index.ts', import.meta.url)),
).href

/** Counts in its status how often it has looked. */
const operator = `
import { defineKind, defineOperator, s } from '${framework}'
const Ship = defineKind({ group: 'example.com', kind: 'Ship', versions: { v1: {
  spec: s.object({ crew: s.int32({ minimum: 0 }) }), status: s.object({ seen: s.int32().optional() }) } } })
export default defineOperator('ship', operator => {
  operator.controller('ship').for(Ship.v1).reconcile(async ({ key, client }) => {
    const ship = await client.get(Ship.v1, key)
    if (!ship || ship.metadata.deletionTimestamp || ship.status?.seen === SEEN) return
    await client.updateStatus(Ship.v1, { ...ship, status: { seen: (ship.status?.seen ?? 0) + 1 } })
  })
})`

describe('coxswain simulate', () => {
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-simulate-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'wrong.ts'), operator.replace('SEEN', '-1'))
  writeFileSync(join(folder, 'right.ts'), operator.replace('SEEN', '1'))
  const run = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, 'simulate', ...args], {
      cwd: folder,
      encoding: 'utf8',
    })
    return { status, stdout, stderr }
  }

  it('exits with 1 when something is found, writes it, and replays it byte for byte', () => {
    const { status, stdout } = run('wrong.ts', '--trace', 'trace.json', '--json', 'report.json')
    assert.equal(status, 1, stdout)
    assert.match(stdout, /^settles: it never comes to rest/)
    const name = readdirSync(folder).find(each => /^ship-[0-9a-f]{8}\.json$/.test(each))!
    assert.match(stdout, new RegExp(`Replay: coxswain simulate wrong.ts --replay ${name}`))
    const report = JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8'))
    assert.equal(report.failures[0].findings[0].oracle, 'settles')
    assert.ok(JSON.parse(readFileSync(join(folder, 'trace.json'), 'utf8')).trace.length > 100)
    const again = run('wrong.ts', '--replay', name)
    assert.equal(again.status, 1)
    assert.match(again.stdout, /The run is byte-identical to the recorded one/)
    const mended = run('right.ts', '--replay', name)
    assert.deepEqual(
      [mended.status, mended.stdout],
      [0, 'The run no longer fails: the operator, or the world, has changed.\n'],
    )
  })

  it('exits with 0 when nothing is found, and says how much was tried', () => {
    const { status, stdout } = run('right.ts', '--runs', '30', '--only', 'crash,reject')
    assert.equal(status, 0, stdout)
    assert.match(
      stdout,
      /^Nothing found: \d+ runs of \d+ scenarios, \d+ single faults \(not all of them tried\), \d+ states\.\n$/,
    )
  })

  it('exits with 2 for bad usage, and says what is known', () => {
    assert.match(run('right.ts', '--only', 'storm').stderr, /--only: there is no storm; known are crash, /)
    assert.equal(run('right.ts', '--without', 'luck').status, 2)
    assert.equal(run('right.ts', '--runs', '3', '--seconds', '3').status, 2)
    assert.equal(run('right.ts', '--service', 'nonsense').status, 2)
    assert.match(run('right.ts', '--scenario', 'none.ts').stderr, /none\.ts: does not exist/)
    writeFileSync(join(folder, 'bad.json'), '{}')
    assert.match(
      run('right.ts', '--replay', 'bad.json').stderr,
      /is not a file that coxswain simulate has written/,
    )
    assert.equal(run('right.ts', '--replay', 'bad.json').status, 2)
  })
})
