import type { Command, Option } from 'commander'
import { valuesOf } from './values.ts'

/** One proposal. */
export interface Candidate {
  readonly value: string
  readonly text: string
}

/** What to propose for the last of the words. */
export interface Completion {
  readonly candidates: readonly Candidate[]
  /** Whether the shell completes file names when there is no candidate. */
  readonly files: boolean
}

/** Prints the proposals as cobra programs do, which kubectl reads too: `value<TAB>description` lines, then `:4` (no files) or `:0`. */
export async function runComplete(program: Command, words: readonly string[]): Promise<void> {
  const { candidates, files } = await complete(program, words)
  const lines = candidates.map(({ value, text }) => `${value}\t${text}\n`)
  process.stdout.write(`${lines.join('')}:${files ? 0 : 4}\n`)
}

/** Proposals for the last word, which may be empty. */
export async function complete(program: Command, words: readonly string[]): Promise<Completion> {
  const current = words.at(-1) ?? ''
  const { command, pending, rest } = walk(program, words.slice(0, -1))
  if (pending) return await completeValue(pending, current, '')
  const [, flag = '', value = ''] = /^(--[^=]+)=(.*)$/.exec(current) ?? []
  const named = optionsOf(command).find(option => option.long === flag)
  if (named) return await completeValue(named, value, `${flag}=`)
  if (current.startsWith('-')) {
    const candidates = optionsOf(command).flatMap(({ long, description, hidden }) =>
      long && !hidden ? [{ value: long, text: firstSentence(description) }] : [],
    )
    return { candidates: startingWith(candidates, current), files: false }
  }
  const visible = command.createHelp().visibleCommands(command)
  if (visible.length > 0 && rest.length === 0) {
    const candidates = visible.map(each => ({ value: each.name(), text: firstSentence(each.description()) }))
    return { candidates: startingWith(candidates, current), files: false }
  }
  const argument = command.registeredArguments[Math.min(rest.length, command.registeredArguments.length - 1)]
  const choices = argument?.argChoices?.map(choice => ({ value: choice, text: '' })) ?? []
  return { candidates: startingWith(choices, current), files: argument !== undefined && choices.length === 0 }
}

interface Place {
  readonly command: Command
  /** The option whose value the next word is. */
  readonly pending: Option | undefined
  /** The positional arguments so far. */
  readonly rest: readonly string[]
}

function walk(program: Command, words: readonly string[]): Place {
  let command = program
  let pending: Option | undefined
  let rest: string[] = []
  for (const word of words) {
    if (pending) pending = undefined
    else if (word.startsWith('-')) {
      const option = optionsOf(command).find(({ long, short }) => word === long || word === short)
      pending = option?.required ? option : undefined
    } else {
      const next = rest.length === 0 ? command.commands.find(each => each.name() === word) : undefined
      if (next) command = next
      else rest = [...rest, word]
    }
  }
  return { command, pending, rest }
}

function optionsOf(command: Command): readonly Option[] {
  return command.createHelp().visibleOptions(command)
}

async function completeValue(option: Option, current: string, prefix: string): Promise<Completion> {
  if (/<(file|dir)/.test(option.flags)) return { candidates: [], files: true }
  const known = option.argChoices ?? (option.optional ? ['true', 'false'] : await valuesOf(option.long ?? ''))
  const candidates = known.map(value => ({ value, text: '' }))
  const found = startingWith(candidates, current).map(({ value, text }) => ({
    value: `${prefix}${value}`,
    text,
  }))
  return { candidates: found, files: false }
}

function startingWith(candidates: readonly Candidate[], start: string): Candidate[] {
  return candidates.filter(({ value }) => value.startsWith(start))
}

function firstSentence(text: string): string {
  return text.split(/[\n\t]/)[0]!.split('. ')[0]!
}
