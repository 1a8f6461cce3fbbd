import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type Mistake, mistakes } from './test-support/controller-mistakes.ts'

const plant = new URL('test-support/plant-mistake.ts', import.meta.url).href

/** What the suite says of a scenario when the mistake is in the source. */
async function playWith(mistake: Mistake): Promise<string> {
  const { suite, scenario, needsTorture } = mistake
  const file = fileURLToPath(new URL(`../../${suite}.test.ts`, import.meta.url))
  const { NODE_TEST_CONTEXT: _, TORTURE_RUNS: __, COXSWAIN_COVERAGE: ___, ...env } = process.env
  const pattern = RegExp.escape(scenario)
  const args = ['--import', plant, '--test-reporter=tap', `--test-name-pattern=${pattern}`, file]
  const child = spawn(process.execPath, args, {
    env: {
      ...env,
      PLANTED_MISTAKE: JSON.stringify(mistake),
      ...(needsTorture && { TORTURE_RUNS: '1' }),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk
  })
  await new Promise(resolve => child.on('close', resolve))
  return output
}

const isTorture = Number(process.env.TORTURE_RUNS ?? 0) > 0

describe('a mistake in a control loop is found by the scenarios', () => {
  for (const mistake of mistakes.filter(({ needsTorture }) => isTorture || !needsTorture))
    it(mistake.name, async () => {
      const output = await playWith(mistake)
      assert.match(output, /code: 'ERR_ASSERTION'/, output)
    })
})
