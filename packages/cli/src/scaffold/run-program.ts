import { spawn } from 'node:child_process'

/** Runs a program to its end in a folder. `output` is what it printed on both streams. */
export function runProgram(
  program: string,
  args: readonly string[],
  cwd: string,
): Promise<{ readonly code: number | null; readonly output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        output = (output + chunk).slice(-100_000)
      })
    child.on('error', reject)
    child.on('close', code => resolve({ code, output }))
  })
}
