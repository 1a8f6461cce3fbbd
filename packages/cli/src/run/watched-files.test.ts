import assert from 'node:assert/strict'
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { stateOf } from './file-state.ts'
import { WatchedFiles } from './watched-files.ts'

async function withFolder(test: (folder: string, files: WatchedFiles) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-watch-'))
  const files = new WatchedFiles()
  try {
    await test(folder, files)
  } finally {
    files.close()
    rmSync(folder, { recursive: true })
  }
}

describe('watched files', () => {
  it('tell of a file that is written, or put in the place of the old one', async () => {
    await withFolder(async (folder, files) => {
      const file = join(folder, 'a.ts')
      writeFileSync(file, '1')
      files.add(file, stateOf(file))
      let changed = files.nextChange()
      writeFileSync(file, '22')
      assert.equal((await changed).file, file)
      changed = files.nextChange()
      writeFileSync(join(folder, 'other'), '333')
      renameSync(join(folder, 'other'), file)
      assert.equal((await changed).file, file)
    })
  })

  it('tell of a file that was saved after it was loaded and before it was watched', async () => {
    await withFolder(async (folder, files) => {
      const file = join(folder, 'a.ts')
      writeFileSync(file, '1')
      const loaded = stateOf(file)
      writeFileSync(file, '22')
      const changed = files.nextChange()
      files.add(file, loaded)
      assert.equal((await changed).file, file)
    })
  })

  it('tell of a file that is created later', async () => {
    await withFolder(async (folder, files) => {
      const file = join(folder, 'a.ts')
      files.add(file, stateOf(file))
      const changed = files.nextChange()
      writeFileSync(file, '1')
      assert.equal((await changed).file, file)
    })
  })
})
