import { spawn } from 'node:child_process'

export interface RunOptions {
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
  /** Shows the program's output as it comes instead of keeping it. @default false */
  readonly inherit?: boolean
  /** In milliseconds; a program that takes longer is ended, and has failed. @default none */
  readonly timeout?: number
}

export interface RunResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs a program to its end. A program that cannot be started rejects; one that fails does not. */
export function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<RunResult> {
  const { cwd, env, inherit = false, timeout = 0 } = options
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      env: env ?? process.env,
      timeout,
      stdio: inherit ? 'inherit' : ['ignore', 'pipe', 'pipe'],
    })
    let stdout = ''
    let stderr = ''
    child.stdout?.setEncoding('utf8').on('data', chunk => {
      stdout += chunk
    })
    child.stderr?.setEncoding('utf8').on('data', chunk => {
      stderr += chunk
    })
    child.on('error', error => reject(new Error(`cannot run ${command}: ${error.message}`, { cause: error })))
    child.on('close', (code, signal) =>
      resolve({ code: code ?? 1, stdout, stderr: signal ? `${stderr}killed by ${signal}` : stderr }),
    )
  })
}

/** As `run`, but a program that fails rejects with what it said. Gives its standard output. */
export async function runOrFail(
  command: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<string> {
  const { code, stdout, stderr } = await run(command, args, options)
  if (code !== 0)
    throw new Error(`${command} ${args.join(' ')} failed with code ${code}\n${stderr || stdout}`)
  return stdout
}
