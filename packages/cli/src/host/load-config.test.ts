import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { loadConfig } from './load-config.ts'

describe('the configuration file', () => {
  it('is TypeScript that exports a configuration; anything else is an error of one line with the file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'coxswain-config-'))
    const put = (name: string, text: string) => {
      writeFileSync(join(folder, name), text)
      return join(folder, name)
    }
    try {
      const good = put(
        'good.ts',
        `import { defineConfig, type RunConfig } from '${import.meta.resolve('./config.ts')}'
        const config: RunConfig = { leaderElect: true }
        export default defineConfig(config)`,
      )
      assert.deepEqual(await loadConfig(good), { file: good, config: { leaderElect: true } })
      const fails = (file: string, message: RegExp) =>
        assert.rejects(loadConfig(file), { exitCode: 2, message })
      await fails(join(folder, 'none.ts'), /none\.ts: does not exist$/)
      await fails(put('list.ts', 'export default []'), /list\.ts: the default export is not a configuration/)
      await fails(put('broken.ts', '\nexport default {'), /broken\.ts:\d+: /)
      await fails(put('throws.ts', "\nthrow new Error('no')"), /throws\.ts:2: no$/)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
