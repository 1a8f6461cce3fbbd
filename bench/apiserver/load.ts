import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Counted, Job, Report } from './jobs.ts'
import { isPinned, type Server } from './servers.ts'
import { cpuMilliseconds } from './usage.ts'

const program = fileURLToPath(new URL('./generator.ts', import.meta.url))

export interface Measured extends Counted {
  /** Processor time of the server; 0 when it runs elsewhere. */
  readonly cpu: number
}

/** Sends one job after the other to a load generator in a process of its own. */
export class Load implements AsyncDisposable {
  readonly #child: ChildProcess

  constructor() {
    const [head, ...rest] = [...(isPinned ? ['taskset', '-c', '1'] : []), process.execPath, program]
    this.#child = spawn(head!, rest, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  }

  run(server: Server, job: Job): Promise<Measured> {
    return new Promise((resolve, reject) => {
      let before = 0
      const onExit = (code: number | null) => reject(new Error(`the load generator ended with code ${code}`))
      const onReport = (report: Report) => {
        if (report.type === 'begin') {
          before = cpuMilliseconds(server.pids)
          return
        }
        this.#child.off('message', onReport).off('exit', onExit)
        if (report.type === 'failed') reject(new Error(report.message))
        else resolve({ ...report, cpu: cpuMilliseconds(server.pids) - before })
      }
      this.#child.on('message', onReport).on('exit', onExit)
      this.#child.send(job)
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null) return
    const exited = new Promise<void>(resolve => this.#child.on('exit', () => resolve()))
    this.#child.kill('SIGTERM')
    await exited
  }
}
