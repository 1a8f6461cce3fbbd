import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { join, resolve } from 'node:path'
import { isStoreError } from '@coxswain/storage'
import { backupStore, checkStore, restoreStore, type StoreReport } from '@coxswain/storage/sqlite'
import { CommandError, explainSystemError } from '../exit.ts'
import { type ControlAnswer, type ControlRequest, controlSocketPath } from '../up/control-socket.ts'

export interface StoreCommandOptions {
  readonly dataDir: string
}

/** How many findings of a check are printed. */
const problemsShown = 20

const directoryOf = ({ dataDir }: StoreCommandOptions) => join(resolve(dataDir), 'store')

/** Verifies the store and prints a summary. The store may be in use. */
export function runCheck(options: StoreCommandOptions): void {
  const directory = directoryOf(options)
  const report = attempt(() => checkStore(directory))
  const { problems } = report
  if (problems.length === 0) {
    print('the store is intact', report)
    return
  }
  const shown = problems.slice(0, problemsShown)
  const more = problems.length > shown.length ? [`and ${problems.length - shown.length} more`] : []
  throw new CommandError(
    `the store in ${directory} is damaged; restore a backup with: coxswain store restore FILE\n  ${[...shown, ...more].join('\n  ')}`,
  )
}

/** Copies a store, which may be in use, into a file. */
export function runBackup(file: string, options: StoreCommandOptions): void {
  print(
    `backed up to ${file}`,
    attempt(() => backupStore(directoryOf(options), resolve(file)), file),
  )
}

/** Replaces the content of the store with a backup: through the server when one is running, which sends watch events. */
export async function runRestore(file: string, options: StoreCommandOptions): Promise<void> {
  if (!existsSync(file)) throw new CommandError(`${file}: does not exist`)
  try {
    print(`restored from ${file}`, restoreStore(directoryOf(options), resolve(file)))
  } catch (error) {
    if (!isStoreError(error, 'Locked')) throw toCommandError(error, file)
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

/** Errors name the file, unless the store's own message already does. */
function attempt<T>(action: () => T, file?: string): T {
  try {
    return action()
  } catch (error) {
    throw toCommandError(error, file)
  }
}

function toCommandError(error: unknown, file?: string): CommandError {
  const reason = explainSystemError(error)
  const isNamed = file === undefined || isStoreError(error)
  return new CommandError(isNamed ? reason : `${file}: ${reason}`, { cause: error })
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
          `the store is in use, but its server cannot be reached: ${explainSystemError(error)}; stop it first`,
          { cause: error },
        ),
      ),
    )
  })
}
