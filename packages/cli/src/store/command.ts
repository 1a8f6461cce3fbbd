import type { Command } from 'commander'
import { addSubcommand } from '../subcommand.ts'

/** Adds `coxswain store`. */
export function addStore(program: Command): void {
  const store = addSubcommand(program, 'store').description(
    'Check, back up and restore the store of a data directory; a server may be using it.',
  )
  const withDirectory = (command: Command) =>
    command.option('--data-dir <dir>', 'the data directory of coxswain up', '.coxswain')
  withDirectory(addSubcommand(store, 'check'))
    .description('Read the whole store and verify its integrity.')
    .action(async options => (await import('./store.ts')).runCheck(options))
  withDirectory(addSubcommand(store, 'backup'))
    .description('Copy the current state, with its history, to a file.')
    .argument('<file>', 'the file to write')
    .action(async (file: string, options) => (await import('./store.ts')).runBackup(file, options))
  withDirectory(addSubcommand(store, 'restore'))
    .description(
      'Replace the content of the store with a backup; a running server sends the differences as watch events.',
    )
    .argument('<file>', 'a file written by backup')
    .action(async (file: string, options) => await (await import('./store.ts')).runRestore(file, options))
}
