import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { type ConformanceTarget, casesFor, runConformanceCase } from '../../conformance/index.ts'
import { openSqliteStore } from './index.ts'

// On a memory file system, if there is one, syncs cost nothing; the tests on a real disk are in interop/storage.
const root = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'coxswain-sqlite-'))
let stores = 0

const target: ConformanceTarget = {
  ownsHistory: true,
  shortestTtl: 100,
  open: settings => {
    const { historyRevisions, ...watch } = settings
    const history = historyRevisions ? { revisions: historyRevisions, bytes: 0 } : {}
    return openSqliteStore({ directory: join(root, String(stores++)), watch, history })
  },
  pass: ms => new Promise(resolve => setTimeout(resolve, ms)),
  within: promise => promise,
}

describe('sqlite store', () => {
  after(() => rmSync(root, { recursive: true }))
  for (const which of casesFor(target))
    it(which.name, { timeout: 20_000 }, () => runConformanceCase(target, which))
})
