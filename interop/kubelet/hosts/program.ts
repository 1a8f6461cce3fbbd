import type { ChildProcess } from 'node:child_process'
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '../../support/eventually.ts'
import type { Host } from './host.ts'

/** A program that goes on inside a host until it is stopped, or the host ends. */
export interface Program {
  /** The file that has all it printed. */
  readonly log: string
  stop(signal?: NodeJS.Signals): Promise<void>
}

export interface ProgramOptions {
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
  /** Where its output goes, to the file HOST-NAME.log. */
  readonly logs: string
  readonly env?: NodeJS.ProcessEnv
  /** What it prints once it is of use. @default nothing to wait for */
  readonly ready?: RegExp
}

/** Resolves once the program is ready; rejects with the end of its log when it ends before. */
export async function startProgram(host: Host, options: ProgramOptions): Promise<Program> {
  const { name, command, args, logs, env, ready } = options
  const log = join(logs, `${host.name}-${name}.log`)
  const output = openSync(log, 'a')
  const before = fstatSync(output).size
  const child = host.spawn(command, args, {
    stdio: ['ignore', output, output],
    env: { ...process.env, ...env },
  })
  closeSync(output)
  child.on('error', () => {})
  if (ready)
    await eventually(`${name} on ${host.name} is ready`, async () => {
      if (hasEnded(child)) throw new EndedError(name, host.name, log)
      return ready.test(readFileSync(log).toString('utf8', before))
    }).catch(error => {
      throw new Error(`${error.message}\n${lastLines(log)}`, { cause: error })
    })
  return {
    log,
    async stop(signal = 'SIGTERM') {
      if (hasEnded(child)) return
      const ended = new Promise(resolve => child.once('exit', resolve))
      // The child is nsenter; the program is its only child.
      const [own] = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim().split(' ')
      process.kill(Number(own), signal)
      await ended
    },
  }
}

class EndedError extends Error {
  constructor(name: string, host: string, log: string) {
    super(`${name} on ${host} has ended, see ${log}`)
  }
}

const hasEnded = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null

export const lastLines = (log: string, count = 30): string =>
  readFileSync(log, 'utf8').split('\n').slice(-count).join('\n')
