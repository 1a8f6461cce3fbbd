import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSeededRandom, type Random } from '@coxswain/kit'
import { openSqliteStore } from '@coxswain/storage/sqlite'
import { ByteReader, ByteWriter } from '../../../packages/storage/src/node/sqlite/bytes.ts'
import { databaseName, openForReading } from '../../../packages/storage/src/node/sqlite/database.ts'
import {
  type ReadReply,
  type ReadRequest,
  readCommits,
  readKeyValue,
  writeTransaction,
} from '../../../packages/storage/src/node/sqlite/messages.ts'
import { CountMemory, SnapshotReader } from '../../../packages/storage/src/node/sqlite/snapshot-reader.ts'
import { Writer } from '../../../packages/storage/src/node/sqlite/writer.ts'

const fastFolder = '/dev/shm'
const keys = Array.from({ length: 60 }, (_, i) => `/registry/things/default/name-${i}`)

export interface FlipResult {
  readonly refused: number
  readonly failedReads: number
  readonly unharmed: number
  /** Wrong data without an error: what must never be. */
  readonly silent: readonly string[]
}

/** What a store has, read in every way there is; an error stands for a part that could not be read. */
type Reading = Map<string, string>

/** Flips one random bit at a time in the files of a store, closed cleanly or not, and reads all of it. */
export async function flipBits(options: { seed: number; flips: number }): Promise<FlipResult> {
  const random = createSeededRandom(options.seed)
  const root = mkdtempSync(join(fastFolder, 'coxswain-flip-'))
  const result = { refused: 0, failedReads: 0, unharmed: 0, silent: [] as string[] }
  try {
    const originals = await makeStores(root)
    const expected = originals.map(original => {
      const copy = join(root, 'sound')
      rmSync(copy, { recursive: true, force: true })
      cpSync(original, copy, { recursive: true })
      return readAll(copy)
    })
    for (let i = 0; i < options.flips; i++) {
      const which = i % originals.length
      const directory = join(root, 'flipped')
      rmSync(directory, { recursive: true, force: true })
      cpSync(originals[which]!, directory, { recursive: true })
      const where = flip(directory, random)
      let reading: Reading
      try {
        reading = readAll(directory)
      } catch {
        result.refused++
        continue
      }
      let errors = 0
      for (const [what, value] of expected[which]!) {
        const found = reading.get(what)
        if (found === 'error') errors++
        else if (found !== value) result.silent.push(`${where}: ${what} is ${found?.slice(0, 60)}`)
      }
      if (errors > 0) result.failedReads++
      else result.unharmed++
    }
    return result
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

/** Three stores of the same kind: closed, copied while in use, and closed with free pages inside. */
async function makeStores(root: string): Promise<string[]> {
  const names = ['closed', 'in-use', 'holes'].map(name => join(root, name))
  for (const [which, directory] of names.entries()) {
    const live = `${directory}-live`
    const store = await openSqliteStore({ directory: live, history: { revisions: 40, bytes: 0 } })
    for (let round = 0; round < 3; round++) {
      for (const key of keys) {
        const value = new TextEncoder().encode(`${key} in round ${round} ${'x'.repeat(1500)}`)
        await store.transact({ operations: [{ type: 'put', key, value }] })
      }
    }
    for (const key of keys.slice(0, 10)) await store.transact({ operations: [{ type: 'delete', key }] })
    if (which === 2) await store.compact((await store.status()).revision)
    if (which === 1) cpSync(live, directory, { recursive: true })
    await store.close()
    if (which !== 1) cpSync(live, directory, { recursive: true })
    for (const file of readdirSync(directory)) {
      if (file.endsWith('-shm') || file === 'lock.sqlite') rmSync(join(directory, file))
    }
  }
  return names
}

function flip(directory: string, random: Random): string {
  const files = readdirSync(directory).filter(file => readFileSync(join(directory, file)).length > 0)
  const file = files[random.below(files.length)]!
  const content = readFileSync(join(directory, file))
  const at = random.below(content.length)
  const bit = random.below(8)
  content[at]! ^= 1 << bit
  writeFileSync(join(directory, file), content)
  return `bit ${bit} of byte ${at} of ${file}`
}

/** Opens the store as its threads do, reads everything, writes some, and reads everything again. */
function readAll(directory: string): Reading {
  const options = { directory, historyRevisions: 40, historyDuration: 0, historyBytes: 0, checkpointBytes: 1 }
  const writer = new Writer(options)
  try {
    const { revision, compacted } = writer.opened
    const reading: Reading = new Map([['revisions', `${revision} ${compacted}`]])
    const reader = new SnapshotReader(openForReading(join(directory, databaseName)), new CountMemory())
    try {
      readStates(reader, reading, 'before')
      readHistory(reader, reading, { from: compacted, to: revision })
      if (writeSome(writer)) readStates(reader, reading, 'after')
      else for (const what of [...keys, 'range', 'count']) reading.set(`after ${what}`, 'error')
    } finally {
      reader.close()
    }
    return reading
  } finally {
    try {
      writer.close()
    } catch {
      // A damaged store may not be able to close properly.
    }
  }
}

function ask(reader: SnapshotReader, request: ReadRequest): ReadReply {
  const steps = reader.read(request)
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value
}

function readStates(reader: SnapshotReader, reading: Reading, when: string): void {
  const show = ({ buffers = [] }: ReadReply) => {
    let text = ''
    for (const buffer of buffers) {
      for (const input = new ByteReader(buffer); !input.done; ) {
        const { key, value, modRevision, createRevision, version } = readKeyValue(input)
        text += `${key} ${modRevision} ${createRevision} ${version} ${new TextDecoder().decode(value)}\n`
      }
    }
    return text
  }
  for (const key of keys) {
    const reply = ask(reader, { type: 'get', id: 0, key, revision: undefined })
    reading.set(`${when} ${key}`, reply.error ? 'error' : `${reply.revision} ${show(reply)}`)
  }
  const range = { type: 'range', id: 0, start: '/', end: '0', revision: undefined, limit: undefined } as const
  const all = ask(reader, { ...range, keysOnly: false, countOnly: false })
  reading.set(`${when} range`, all.error ? 'error' : `${all.count} ${show(all)}`)
  const count = ask(reader, { ...range, keysOnly: false, countOnly: true })
  reading.set(`${when} count`, count.error ? 'error' : String(count.count))
}

function readHistory(reader: SnapshotReader, reading: Reading, span: { from: number; to: number }): void {
  const reply = ask(reader, { type: 'history', id: 0, prefix: '/', ...span })
  if (reply.error) {
    reading.set('history', 'error')
    return
  }
  const commits = readCommits(new ByteReader(reply.buffers![0]!))
  const text = commits.map(({ revision, changes }) =>
    [revision, ...changes.map(change => `${JSON.stringify(change)}`)].join(' '),
  )
  reading.set('history', text.join('\n'))
}

/** False when the store refuses, which is an answer too. */
function writeSome(writer: Writer): boolean {
  for (let i = 0; i < 20; i++) {
    const out = new ByteWriter(4096)
    const value = new TextEncoder().encode(`written afterwards ${i} ${'y'.repeat(1500)}`)
    const operations = [{ type: 'put' as const, key: `/registry/later/${i}`, value }]
    writeTransaction(out, { conditions: [], operations, dues: [0] })
    const [reply] = writer.commit([{ type: 'write', id: 0, count: 1, buffer: out.finish() }])
    if (reply?.type === 'failed') return false
    writer.tidy()
  }
  return true
}
