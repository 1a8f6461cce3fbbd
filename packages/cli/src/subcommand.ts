import type { Command } from 'commander'

/** Adds a subcommand with the error handling of its parent. */
export function addSubcommand(parent: Command, name: string): Command {
  return parent
    .command(name)
    .copyInheritedSettings(parent)
    .showHelpAfterError(`(${[...namesOf(parent), name].join(' ')} --help lists the options)`)
}

/** The names of a command and its parents. */
function namesOf(command: Command): string[] {
  return [...(command.parent ? namesOf(command.parent) : []), command.name()]
}
