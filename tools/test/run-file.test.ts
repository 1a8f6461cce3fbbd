import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { type FileResult, runFile } from './run-file.ts'

async function runText(text: string, timeout = 30_000): Promise<FileResult> {
  const scratch = await mkdtemp(join(tmpdir(), 'coxswain-run-file-'))
  try {
    const file = join(scratch, 'planted.test.ts')
    await writeFile(file, `import { describe, it } from 'node:test'\n${text}\n`)
    return await runFile(file, { scratch, timeout })
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

const names = ({ failures }: FileResult) => failures.map(({ name }) => name)
const messages = ({ failures }: FileResult) => failures.map(({ message }) => message).join('\n')

describe('running a test file', { concurrency: 2 }, () => {
  it('counts tests, not suites', async () => {
    const result = await runText(
      "describe('a', () => { it('b', () => {}); it('c', async () => {}) }); it('d', () => {})",
    )
    assert.equal(result.passed, 3)
    assert.deepEqual(result.failures, [])
  })

  it('names a failed test by its path, and passes the others', async () => {
    const text = "describe('a', () => { it('good', () => {}); it('bad', () => { throw new Error('boom') }) })"
    const result = await runText(text)
    assert.equal(result.passed, 1)
    assert.deepEqual(names(result), ['a > bad'])
    assert.match(messages(result), /boom/)
  })

  it('fails on a failed hook', async () => {
    const result = await runText(
      "import { after } from 'node:test'\ndescribe('a', () => { after(() => { throw new Error('hook') }); it('b', () => {}) })",
    )
    assert.deepEqual(names(result), ['a'])
    assert.match(messages(result), /hook/)
  })

  it('fails on a timer and on a socket that are still there at the end', async () => {
    const timer = await runText("it('a', () => { setInterval(() => {}, 1000) })")
    assert.equal(timer.passed, 1)
    assert.match(messages(timer), /leaked handles keep the process alive: Timeout/)
    const server = await runText(
      "import net from 'node:net'\nit('a', () => { net.createServer().listen(0) })",
    )
    assert.match(messages(server), /leaked handles keep the process alive: TCPServerWrap/)
  })

  it('lets a handle pass that is closing', async () => {
    const result = await runText("it('a', () => { setTimeout(() => {}, 50) })")
    assert.deepEqual(result.failures, [])
  })

  it('fails on an unhandled rejection', async () => {
    const result = await runText(
      "it('a', async () => { Promise.reject(new Error('floating')); await new Promise(r => setTimeout(r, 10)) })",
    )
    assert.match(messages(result), /floating/)
  })

  it('fails on a file that cannot be loaded, or holds no test', async () => {
    assert.match(messages(await runText("throw new Error('at load')")), /at load/)
    assert.match(messages(await runText('')), /holds no test/)
  })

  it('fails on a test that was skipped', async () => {
    const result = await runText("it('a', { skip: true }, () => {}); it('b', t => t.skip('no etcd'))")
    assert.deepEqual(names(result), ['a', 'b'])
    assert.equal(result.passed, 0)
  })

  it('fails on a process that outlives the file', async () => {
    const start = "spawn('sleep', ['20'], { stdio: 'inherit', detached: true })"
    const result = await runText(
      `import { spawn } from 'node:child_process'\nit('a', () => { ${start}.unref() })`,
    )
    assert.match(messages(result), /leaked process/)
  })

  it('stops a file that takes too long', async () => {
    const result = await runText("it('a', () => new Promise(r => setTimeout(r, 60_000)))", 1_000)
    assert.match(messages(result), /was stopped after 1000 ms/)
  })
})
