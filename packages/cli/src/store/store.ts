import { connect } from 'node:net'
import { join, resolve } from 'node:path'
import { hasStoreErrorCode } from '@coxswain/storage'
import { backupStore, checkStore, restoreStore, type StoreReport } from '@coxswain/storage/sqlite'
import { CommandError, explainSystemError } from '../exit.ts'
import { type ControlAnswer, type ControlRequest, controlSocketPath } from '../up/control-socket.ts'

export interface StoreCommandOptions {
  readonly dataDir: string
}

const directoryOf = ({ dataDir }: StoreCommandOptions) => join(resolve(dataDir), 'store')

/** Prints what the store holds; fails when something in it is wrong. The store may be in use. */
export function runCheck(options: StoreCommandOptions): void {
  const report = attempt(() => checkStore(directoryOf(options)))
  print('the store is sound', report)
  if (report.problems.length === 0) return
  throw new CommandError(`the store in ${directoryOf(options)} is damaged: ${report.problems.join('; ')}`)
}

/** Copies a store, which may be in use, into a file. */
export function runBackup(file: string, options: StoreCommandOptions): void {
  print(
    `backed up to ${file}`,
    attempt(() => backupStore(directoryOf(options), resolve(file))),
  )
}

/** Puts a backup in place of what is there: by the server itself when one is running, with events for its watchers. */
export async function runRestore(file: string, options: StoreCommandOptions): Promise<void> {
  try {
    print(`restored from ${file}`, restoreStore(directoryOf(options), resolve(file)))
  } catch (error) {
    if (!hasStoreErrorCode(error, 'Locked')) throw toCommandError(error)
    const answer = await ask(resolve(options.dataDir), { command: 'restore', file: resolve(file) })
    if (!answer.ok) throw new CommandError(`the running server could not restore ${file}: ${answer.error}`)
    process.stdout.write(`restored from ${file} into the running server: revision ${answer.revision}\n`)
  }
}

function print(what: string, { revision, compactedRevision, keys, changes }: StoreReport): void {
  process.stdout.write(
    `${what}: revision ${revision}, ${keys} keys, ${changes} changes since revision ${compactedRevision}\n`,
  )
}

function attempt<T>(action: () => T): T {
  try {
    return action()
  } catch (error) {
    throw toCommandError(error)
  }
}

function toCommandError(error: unknown): CommandError {
  return new CommandError(explainSystemError(error), { cause: error })
}

function ask(dataDir: string, request: ControlRequest): Promise<ControlAnswer> {
  return new Promise((resolveAnswer, reject) => {
    let text = ''
    const socket = connect(controlSocketPath(dataDir))
    socket.setEncoding('utf8')
    socket.on('connect', () => socket.write(`${JSON.stringify(request)}\n`))
    socket.on('data', (chunk: string) => {
      text += chunk
    })
    socket.on('end', () => resolveAnswer(JSON.parse(text) as ControlAnswer))
    socket.on('error', error =>
      reject(
        new CommandError(
          `the store is in use, and its server cannot be reached: ${explainSystemError(error)}`,
          { cause: error },
        ),
      ),
    )
  })
}
