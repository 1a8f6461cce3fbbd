import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Where an error comes from, in the code of the program that uses the framework. */
export interface OwnLine {
  /** `operator.ts:12:7`, seen from the working directory. */
  readonly place: string
  /** What the file says there; empty when it cannot be read. */
  readonly text: string
}

/** The folder of the framework's packages: `packages/` of the sources, `node_modules/@coxswain/` of what is installed. */
const framework = fileURLToPath(new URL('../../../', import.meta.url))
const frame = /^\s+at (?:.*\()?((?:file:\/\/)?\/[^)]*?):(\d+):(\d+)\)?$/
/** Stacks are short; longer ones are cut. */
const mostFrames = 100

/** The innermost call that is not the framework's, a dependency's or Node's. */
export function findOwnLine({ stack = '' }: Error): OwnLine | undefined {
  for (const text of stack.split('\n', mostFrames)) {
    const [, path, line, column] = frame.exec(text) ?? []
    if (path === undefined) continue
    const file = ownFile(path)
    if (file === undefined) continue
    return { place: `${relative(process.cwd(), file)}:${line}:${column}`, text: readLine(file, Number(line)) }
  }
  return undefined
}

/** The path of a file, given as such or as a URL; undefined for what the framework, a dependency or Node brings along. */
export function ownFile(path: string): string | undefined {
  try {
    const file = path.startsWith('file:') ? fileURLToPath(path) : path
    return !file.startsWith('/') || file.startsWith(framework) || file.includes('/node_modules/')
      ? undefined
      : file
  } catch {
    return undefined
  }
}

function readLine(file: string, line: number): string {
  try {
    return readFileSync(file, 'utf8').split('\n', line)[line - 1]?.trim() ?? ''
  } catch {
    return ''
  }
}
