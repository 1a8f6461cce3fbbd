import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'

const command = fileURLToPath(new URL('../../../coxswain/bin/coxswain.js', import.meta.url))
const listModules = new URL('../test-support/list-modules.ts', import.meta.url).href
/** Raise it only for files that the API server cannot serve without. */
const mostModules = 890

/** The modules that a server without control loops has loaded when it prints its ready line. */
async function modulesUntilReady(): Promise<string[]> {
  const directory = mkdtempSync(join(tmpdir(), 'coxswain-modules-'))
  const list = join(directory, 'modules')
  const up = ['up', '--port', '0', '--storage', 'memory', '--controllers', 'none', '--data-dir', directory]
  const child = spawn(process.execPath, ['--import', listModules, command, ...up], {
    env: { ...process.env, MODULE_LIST: list },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const closed = once(child, 'close')
  try {
    const [line] = await Promise.race([once(child.stdout, 'data'), closed])
    assert.match(String(line), /ready at/)
    return readFileSync(list, 'utf8').trimEnd().split('\n')
  } finally {
    child.kill('SIGTERM')
    await closed
    rmSync(directory, { recursive: true })
  }
}

describe('the modules that coxswain up loads until it is ready', () => {
  it(`are at most ${mostModules}, each loaded once, and none that only others need`, async () => {
    const modules = await modulesUntilReady()
    assert.ok(modules.length > 100, `only ${modules.length} were seen`)
    assert.ok(modules.length <= mostModules, `${modules.length} modules`)
    assert.equal(new Set(modules).size, modules.length)
    // An import of node:http loads undici: see builtin-modules.ts of wire.
    const unneeded =
      /^node:http$|\/(scheduler|runtime|informers|testing)\/src\/|\/node_modules\/(pino|@grpc|@opentelemetry)\//
    assert.deepEqual(
      modules.filter(url => unneeded.test(url)),
      [],
    )
  })
})
