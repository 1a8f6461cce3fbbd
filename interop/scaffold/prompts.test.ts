import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const command = join(root, 'packages/coxswain/bin/coxswain.js')

/** Runs the command in a terminal, that of util-linux' `script`, and types each answer once its question is on the screen. */
async function inTerminal(
  folder: string,
  args: readonly string[],
  answers: readonly (readonly [question: RegExp, keys: string])[],
): Promise<{ code: number; screen: string }> {
  const line = [process.execPath, command, ...args].map(word => `'${word}'`).join(' ')
  const child = spawn('script', ['-qec', `stty cols 100 rows 30; ${line}`, '/dev/null'], {
    cwd: folder,
    env: { ...process.env, TERM: 'xterm-256color' },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const left = [...answers]
  let screen = ''
  let fresh = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    screen += text
    fresh += text
    const [question, keys] = left[0] ?? []
    if (question === undefined || !question.test(fresh)) return
    left.shift()
    fresh = ''
    child.stdin.write(keys!)
  })
  const [code] = await once(child, 'close')
  assert.deepEqual(left, [], screen)
  return { code, screen }
}

const enter = '\r'
const eraseLine = '\u0015'
const interrupt = '\u0003'
const down = '\u001b[B'

describe('the questions of a terminal', () => {
  it('are asked by init and create, until the answers can be used', async t => {
    const folder = mkdtempSync(join(tmpdir(), 'coxswain-prompts-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const cancelled = await inTerminal(
      folder,
      ['init', '--fetch-deps=false'],
      [
        [/Domain of the API groups/, `Not one${enter}`],
        [/is not a domain such as/, `${eraseLine}example.com${enter}`],
        [/Name of the project/, interrupt],
      ],
    )
    assert.match(cancelled.screen, /cancelled; nothing was written/)
    assert.equal(cancelled.code, 1)
    assert.deepEqual(readdirSync(folder), [])

    const made = await inTerminal(
      folder,
      ['init', '--fetch-deps=false'],
      [
        [/Domain of the API groups/, `example.com${enter}`],
        [/Name of the project/, `${eraseLine}fleet${enter}`],
      ],
    )
    assert.equal(made.code, 0, made.screen)
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    const names: [RegExp, string][] = [
      [/Group/, `crew${enter}`],
      [/Version/, enter],
      [/Kind/, `captain${enter}`],
      [/PascalCase/, `${eraseLine}Captain${enter}`],
    ]
    assert.equal((await inTerminal(folder, ['create', 'api'], names)).code, 0)
    const second = ['create', 'api', '--version', 'v2', '--controller=false']
    assert.equal(
      (
        await inTerminal(
          folder,
          second,
          names.filter(([name]) => name.source !== 'Version'),
        )
      ).code,
      0,
    )
    const webhook = await inTerminal(
      folder,
      ['create', 'webhook'],
      [...names, [/conversion to v2/, ` ${down}${down} ${enter}`]],
    )
    assert.equal(webhook.code, 0, webhook.screen)
    assert.match(
      readFileSync(join(folder, 'PROJECT'), 'utf8'),
      /conversion: true\n\s+defaulting: true\n\s+spoke:\n\s+- v2/,
    )
    assert.match(readFileSync(join(folder, 'api/captain.ts'), 'utf8'), /conversions: \{/)
  })
})
