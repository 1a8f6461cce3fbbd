import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'

const here = fileURLToPath(new URL('.', import.meta.url))
const cache = fileURLToPath(new URL('../../.cache/torture', import.meta.url))
const coxswain = fileURLToPath(new URL('../../packages/coxswain/bin/coxswain.js', import.meta.url))
const scenario = join(here, 'scenario')

function run(
  program: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: object } = {},
) {
  const { cwd = here, env = {} } = options
  return spawnSync(program, args, { cwd, env: { ...process.env, ...env }, encoding: 'utf8' })
}

function build(program: string, args: readonly string[], cwd: string): void {
  const { status, stdout, stderr } = run(program, args, { cwd })
  assert.equal(status, 0, `${program} ${args.join(' ')}\n${stdout}${stderr}`)
}

interface Operator {
  readonly language: string
  readonly build: () => void
  readonly command: (kind: 'right' | 'wrong') => readonly string[]
  readonly env: (kind: 'right' | 'wrong') => object
  /** What finds the bug. */
  readonly only: string
  /** What the report says. */
  readonly finds: RegExp
  readonly options: readonly string[]
}

const python = join(cache, 'python')

const operators: readonly Operator[] = [
  {
    language: 'Go, controller-runtime',
    build: () => build('go', ['build', '-o', join(cache, 'greeter'), '.'], join(here, 'go')),
    command: kind => [
      join(cache, 'greeter'),
      '--kubeconfig',
      '{kubeconfig}',
      ...(kind === 'wrong' ? ['--bug'] : []),
    ],
    env: () => ({}),
    only: 'crash',
    finds:
      /killed after write \d+ \(update of greetings default\/\w+\/status\)[\s\S]*- configmaps default\/\w+-text/,
    options: [],
  },
  {
    language: 'Python, kopf',
    build: () => {
      if (!existsSync(join(python, 'bin/pip'))) build('python3', ['-m', 'venv', python], here)
      build(join(python, 'bin/pip'), ['install', '--quiet', '-r', 'python/requirements.txt'], here)
    },
    command: () => [join(python, 'bin/kopf'), 'run', '-A', '--standalone', join(here, 'python/operator.py')],
    env: kind => ({ GREETING_BUG: kind === 'wrong' ? '1' : '0' }),
    only: 'crash,lose-response',
    finds: /write \d+ \(create in configmaps default\)[\s\S]*\+ configmaps default\/\w+-text-\* \(2\)/,
    options: ['--quiet', '2000'],
  },
]

describe('coxswain torture', () => {
  before(() => mkdirSync(cache, { recursive: true }))

  for (const { language, build: make, command, env, only, finds, options } of operators)
    describe(language, () => {
      before(make)

      const torture = (kind: 'right' | 'wrong', ...more: readonly string[]) =>
        run(
          process.execPath,
          [
            coxswain,
            'torture',
            '--scenario',
            scenario,
            '--only',
            only,
            ...options,
            ...more,
            '--',
            ...command(kind),
          ],
          { cwd: mkdtempSync(join(tmpdir(), 'coxswain-torture-')), env: env(kind) },
        )

      it('finds the planted bug, and says where', () => {
        const { status, stdout, stderr } = torture('wrong', '--patience', '15')
        assert.equal(status, 1, stdout + stderr)
        assert.match(stdout, finds)
      })

      it('finds nothing in the right twin', () => {
        const { status, stdout, stderr } = torture('right', '--runs', '14')
        assert.equal(status, 0, stdout + stderr)
        assert.match(stdout, /^0 failures in 14 runs/m)
      })
    })
})
