import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Random } from '@coxswain/kit'
import { Acknowledged } from './verify.ts'

/** Something that a program did to a file, in the order in which it was done. */
interface DiskRecord {
  readonly kind: 'write' | 'truncate' | 'sync' | 'unlink' | 'rename'
  readonly file: string
  readonly offset: number
  readonly data: Buffer
}

const kinds = { w: 'write', t: 'truncate', s: 'sync', u: 'unlink', r: 'rename' } as const
/** What a disk writes in one piece. */
const sector = 512
/** Not part of the store, or rebuilt from the rest. */
const ignored = /-shm$|acknowledged$|lock\.sqlite/

export function readRecording(path: string): DiskRecord[] {
  const log = readFileSync(path)
  const records: DiskRecord[] = []
  for (let at = 0; at < log.length; ) {
    const kind = kinds[String.fromCharCode(log[at]!) as keyof typeof kinds]
    const pathLength = log.readUInt32LE(at + 1)
    const file = basename(log.toString('utf8', at + 5, at + 5 + pathLength))
    at += 5 + pathLength
    const offset = Number(log.readBigInt64LE(at))
    const length = Number(log.readBigInt64LE(at + 8))
    records.push({ kind, file, offset, data: log.subarray(at + 16, at + 16 + length) })
    at += 16 + length
  }
  return records
}

interface FileState {
  /** What is on the disk for certain. */
  synced: Buffer
  /** What may or may not have got there since. */
  pending: DiskRecord[]
}

/** What became of the pending writes of each file; those not named got to the disk. */
interface Loss {
  readonly file: string
  readonly index: number
  /** How many bytes of it got to the disk. */
  readonly kept: number
}

export interface CrashState {
  readonly name: string
  readonly acknowledged: Acknowledged
  /** Puts the files that the power cut left into `directory`, which is emptied before. */
  materialize(directory: string): void
}

export interface CrashOptions {
  readonly random: Random
  /** Seeded subsets of dropped writes before each sync. */
  readonly subsets: number
  /** The disk says that it has synced and has not: no store survives that, and the test must see it. */
  readonly lyingDisk?: boolean
}

/**
 * The states in which a power cut could have left the disk: after every record, with all pending writes there; before
 * every sync, with each single one of them dropped or torn; and with seeded subsets dropped.
 */
export function* crashStates(
  records: readonly DiskRecord[],
  options: CrashOptions,
): Generator<CrashState, void, undefined> {
  const { random, subsets, lyingDisk = false } = options
  const files = new Map<string, FileState>()
  const acknowledged = new Acknowledged()
  let text = ''
  const state = (name: string, losses: readonly Loss[]): CrashState => {
    const known = new Acknowledged()
    known.revision = acknowledged.revision
    for (const [key, value] of acknowledged.keys) known.keys.set(key, value)
    return { name, acknowledged: known, materialize: directory => materialize(directory, files, losses) }
  }
  for (const [index, record] of records.entries()) {
    const { kind, file } = record
    if (file === 'acknowledged' && kind === 'write') {
      text += record.data.toString('utf8')
      const lines = text.split('\n')
      text = lines.pop()!
      for (const line of lines) acknowledged.add(line)
    }
    if (ignored.test(file)) continue
    if (kind === 'sync') {
      for (const [name, { pending }] of files) {
        for (const [i, { data }] of pending.entries()) {
          yield state(`before record ${index}: write ${i} of ${name} dropped`, [
            { file: name, index: i, kept: 0 },
          ])
          if (data.length > sector) {
            const kept = sector * random.below(Math.ceil(data.length / sector))
            yield state(`before record ${index}: write ${i} of ${name} torn`, [
              { file: name, index: i, kept },
            ])
          }
        }
      }
      for (let i = 0; i < subsets; i++) {
        const losses = [...files].flatMap(([name, { pending }]) =>
          pending.flatMap(({ data }, j) => {
            const chance = random.below(3)
            if (chance === 0) return []
            const kept = chance === 1 ? 0 : sector * random.below(Math.ceil(data.length / sector) + 1)
            return [{ file: name, index: j, kept }]
          }),
        )
        if (losses.length > 0) yield state(`before record ${index}: subset ${i}`, losses)
      }
    }
    if (!(lyingDisk && kind === 'sync')) applyRecord(files, record)
    if (kind !== 'sync') yield state(`after record ${index}: ${kind} ${file}`, [])
  }
}

function applyRecord(files: Map<string, FileState>, record: DiskRecord): void {
  const { kind, file, data } = record
  if (kind === 'unlink') {
    files.delete(file)
    return
  }
  const state = files.get(file) ?? { synced: Buffer.alloc(0), pending: [] }
  if (kind === 'rename') {
    files.delete(file)
    files.set(basename(data.toString('utf8')), state)
    return
  }
  files.set(file, state)
  if (kind === 'sync') {
    state.synced = contentOf(state, [])
    state.pending = []
  } else {
    state.pending.push(record)
  }
}

function contentOf({ synced, pending }: FileState, losses: readonly Loss[]): Buffer {
  let content = synced
  let copied = false
  for (const [index, { kind, offset, data }] of pending.entries()) {
    const kept = losses.find(loss => loss.index === index)?.kept ?? data.length
    if (kind === 'truncate') {
      if (losses.some(loss => loss.index === index)) continue
      const next = Buffer.alloc(offset)
      content.copy(next, 0, 0, Math.min(offset, content.length))
      content = next
      copied = true
      continue
    }
    if (kept === 0) continue
    const end = offset + Math.min(kept, data.length)
    if (end > content.length || !copied) {
      const next = Buffer.alloc(Math.max(end, content.length))
      content.copy(next)
      content = next
      copied = true
    }
    data.copy(content, offset, 0, kept)
  }
  return content
}

function materialize(
  directory: string,
  files: ReadonlyMap<string, FileState>,
  losses: readonly Loss[],
): void {
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory, { recursive: true })
  for (const [name, state] of files) {
    writeFileSync(
      join(directory, name),
      contentOf(
        state,
        losses.filter(loss => loss.file === name),
      ),
    )
  }
}
