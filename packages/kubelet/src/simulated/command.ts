/**
 * Simulates a command, if it is understood: how long it runs and how it ends. A shell script is interpreted command by
 * command; anything unsupported (pipes, loops, shell variables, other programs) makes the whole script unknown.
 */
import { readScript, type SimpleCommand, unknownText } from './script.ts'

/** How a command runs: milliseconds, Infinity for one that has to be stopped. */
export interface CommandMeaning {
  readonly run: number
  readonly exitCode: number
}

type Environment = ReadonlyMap<string, string>

const longestScript = 10_000
const deepestShell = 5

/** Undefined when the command is not understood. */
export function meaningOf(
  words: readonly string[],
  env: Environment,
  depth: number = 0,
): CommandMeaning | undefined {
  const [program = '', ...rest] = words
  const name = program.replace(/^(\/usr)?(\/local)?\/bin\//, '')
  switch (name) {
    case 'true':
    case 'echo':
    case 'printf':
    case 'date':
    case 'hostname':
    case 'pwd':
      return { run: 0, exitCode: 0 }
    case 'false':
      return { run: 0, exitCode: 1 }
    case 'sleep':
      return meaningOfSleep(rest)
    case 'tail':
      return rest.some(word => /^-[fF]$/.test(word))
        ? { run: Number.POSITIVE_INFINITY, exitCode: 0 }
        : undefined
    case 'sh':
    case 'bash':
    case 'ash':
    case 'dash':
      return depth < deepestShell ? meaningOfShell(rest, env, depth + 1) : undefined
    default:
      return undefined
  }
}

const units: Readonly<Record<string, number>> = { '': 1, s: 1, m: 60, h: 3_600, d: 86_400 }

/** Arguments are added up, as sleep(1) does. */
function meaningOfSleep(periods: readonly string[]): CommandMeaning {
  let run = 0
  for (const period of periods) {
    const parts = /^(\d+\.?\d*|\.\d+|inf(?:inity)?)([smhd]?)$/.exec(period)
    if (!parts) return { run: 0, exitCode: 1 }
    const amount = parts[1]!.startsWith('inf') ? Number.POSITIVE_INFINITY : Number(parts[1])
    run += amount * units[parts[2]!]! * 1_000
  }
  return { run, exitCode: periods.length === 0 ? 1 : 0 }
}

/** `-c SCRIPT`, also `-ec`, `-e -c`, `-eu -o pipefail -c`. */
function meaningOfShell(
  words: readonly string[],
  env: Environment,
  depth: number,
): CommandMeaning | undefined {
  let stopsOnError = false
  for (let at = 0; at < words.length; at++) {
    const word = words[at]!
    const options = /^-([a-z]+)$/.exec(word)?.[1]
    if (options === undefined) return undefined
    if (options.includes('e')) stopsOnError = true
    if (options.endsWith('o')) at++
    if (!options.includes('c')) continue
    const script = words[at + 1]
    if (script === undefined || script.length > longestScript) return undefined
    return new Shell(env, stopsOnError, depth).run(script)
  }
  return undefined
}

/** Commands that could leave an infinite loop. */
const waysOut = /\b(break|exec|exit|kill|return|set)\b/

/** One execution of a script. */
class Shell {
  readonly #env: Environment
  readonly #depth: number
  #stopsOnError: boolean
  #elapsed = 0
  #status = 0
  #isOver = false

  constructor(env: Environment, stopsOnError: boolean, depth: number) {
    this.#env = env
    this.#stopsOnError = stopsOnError
    this.#depth = depth
  }

  run(script: string): CommandMeaning | undefined {
    for (const command of readScript(script, this.#env)) {
      if (command === 'unknown') return undefined
      if (!this.#isDue(command)) continue
      if (!this.#execute(command.words, script)) return undefined
      const isDecisive = command.next !== '&&' && command.next !== '||'
      if (this.#stopsOnError && isDecisive && this.#status !== 0) break
      if (this.#isOver || this.#elapsed === Number.POSITIVE_INFINITY) break
    }
    return { run: this.#elapsed, exitCode: this.#status }
  }

  /** After `&&` only on success, after `||` only on failure. */
  #isDue({ before }: SimpleCommand): boolean {
    if (before === '&&') return this.#status === 0
    return before !== '||' || this.#status !== 0
  }

  /** False when the command is not understood. */
  #execute([name = '', ...rest]: readonly string[], script: string): boolean {
    const isOutput = name === 'echo' || name === 'printf'
    if (!isOutput && [name, ...rest].some(word => word.includes(unknownText))) return false
    switch (name) {
      case 'while':
        if (!/^(true|:)$/.test(rest.join(' ')) || this.#stopsOnError || waysOut.test(script)) return false
        this.#elapsed = Number.POSITIVE_INFINITY
        return true
      case ':':
        this.#status = 0
        return true
      case 'exit':
        return this.#exit(rest[0])
      case 'set':
        return this.#set(rest)
      case 'exec':
        this.#isOver = true
        return this.#runProgram(rest)
      default:
        return this.#runProgram([name, ...rest])
    }
  }

  #exit(code: string | undefined): boolean {
    this.#isOver = true
    if (code === undefined) return true
    if (!/^\d{1,9}$/.test(code)) return false
    this.#status = Number(code) & 0xff
    return true
  }

  #set(options: readonly string[]): boolean {
    this.#status = 0
    const first = options[0] ?? ''
    if (/^-[a-z]*e/.test(first)) this.#stopsOnError = true
    if (/^\+[a-z]*e/.test(first)) this.#stopsOnError = false
    return /^[-+][a-z]+$/.test(first)
  }

  #runProgram(words: readonly string[]): boolean {
    const meaning = meaningOf(words, this.#env, this.#depth)
    if (!meaning) return false
    this.#elapsed += meaning.run
    this.#status = meaning.exitCode
    return true
  }
}
