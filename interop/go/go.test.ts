import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { goEnvironment } from '../../tools/components/go-program.ts'
import { cacheFolder } from '../../tools/components/index.ts'
import { runOrFail } from '../../tools/components/process.ts'
import { execute } from '../support/coxswain.ts'
import { startTarget, type Target } from '../support/target.ts'

const source = { cwd: import.meta.dirname, env: goEnvironment() }
const program = join(cacheFolder, 'bin', 'interop-go')

// `go vet` belongs to the build: its findings are faults of these programs. Both share the build cache.
mkdirSync(join(cacheFolder, 'bin'), { recursive: true })
await runOrFail('go', ['vet', './...'], source)
await runOrFail('go', ['test', '-c', '-o', program, '.'], source)
const names = (await runOrFail(program, ['-test.list', '.'])).split('\n').filter(Boolean)

describe('Go programs', () => {
  let target: Target
  before(async () => {
    target = await startTarget()
  })
  after(() => target[Symbol.asyncDispose]())

  for (const name of names) {
    it(sentence(name), async () => {
      const { code, stdout, stderr } = await execute(
        program,
        ['-test.run', `^${name}$`, '-test.v', '-test.count=1', '-test.timeout=280s'],
        { KUBECONFIG: target.kubeconfig },
      )
      assert.equal(code, 0, `${stdout}\n${stderr}`.slice(-6000))
    })
  }
})

/** `TestDynamicClientWorks` is "Dynamic client works". */
function sentence(name: string): string {
  const words = name.replace(/^Test/, '').match(/[A-Z]+(?![a-z])|[A-Z][a-z]*|\d+/g) ?? [name]
  return words
    .map((word, index) => (index === 0 || /^[A-Z]{2,}$/.test(word) ? word : word.toLowerCase()))
    .join(' ')
}
