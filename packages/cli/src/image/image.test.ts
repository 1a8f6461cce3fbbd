import assert from 'node:assert/strict'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { type Scratch, scratch, startIn } from '../test-support/commands.ts'

async function run(folder: Scratch, ...args: string[]) {
  const command = startIn(folder.path, ...args)
  const code = await command.exited
  return { code, ...command.output() }
}

function project(): Scratch {
  const folder = scratch()
  mkdirSync(join(folder.path, 'node_modules/coxswain'), { recursive: true })
  folder.file('node_modules/coxswain/package.json', '{"name":"coxswain","bin":{"coxswain":"c.js"}}')
  folder.file('package.json', '{"name":"greeter","dependencies":{"coxswain":"*"}}')
  folder.file('operator.ts', '')
  return folder
}

const build = ['image', 'build', '--base', 'scratch']

describe('coxswain image', () => {
  it('writes a layout, and prints its digest on standard output', async () => {
    using folder = project()
    const first = await run(folder, ...build, '--output', 'out', '--sbom', 'sbom.json')
    assert.equal(first.code, 0, first.stderr)
    assert.match(first.stdout, /^out@sha256:[0-9a-f]{64}\n$/)
    assert.match(first.stderr, /built for linux\/\w+: dependencies \d+ B, code \d+ B/)
    assert.ok(existsSync(join(folder.path, 'sbom.json')))
    const again = await run(folder, ...build, '--output', 'out', '--sbom', 'sbom.json')
    assert.equal(again.stdout, first.stdout, 'what a build writes into the project is not in the next image')
  })

  it('refuses bad usage with one line, and writes nothing', async () => {
    using folder = project()
    const cases: readonly [readonly string[], number, RegExp][] = [
      [[...build], 2, /say where the image goes/],
      [[...build, '--push'], 2, /--push needs a --tag/],
      [[...build, '--output', 'out', '--tag', 'A B'], 2, /is not the name of an image/],
      [[...build, '--output', 'out', '--platform', 'amd64'], 2, /is not a platform/],
      [[...build, '--output', 'out', '--label', 'x'], 2, /expected KEY=VALUE/],
      [['image', 'build', '--base', 'oci:absent', '--output', 'out'], 1, /absent is not an OCI image layout/],
      [['image', 'push', 'absent', 'localhost:1/x'], 1, /absent is not an OCI image layout/],
      [['image', 'build', 'absent', '--base', 'scratch', '--output', 'out'], 1, /absent is not a project/],
    ]
    for (const [args, expected, pattern] of cases) {
      const { code, stderr } = await run(folder, ...args)
      assert.match(stderr, pattern)
      assert.equal(code, expected, stderr)
      assert.doesNotMatch(stderr, /^ +at /m)
      assert.ok(!existsSync(join(folder.path, 'out')))
    }
  })
})
