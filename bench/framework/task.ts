/** What the measured programs report: one line of JSON each. The Go program does the same. */
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

export interface Result {
  readonly count: number
  readonly milliseconds: number
  /** Milliseconds of processor time, all threads. */
  readonly cpu: number
  /** Bytes that are alive after a collection, beyond what was there at the start. */
  readonly heap?: number
  /** Resident bytes beyond those at the start. */
  readonly resident?: number
}

export function report(value: object): void {
  process.stdout.write(`${JSON.stringify(value)}\n`)
}

/** Starts counting; the function it returns stops. */
export function startStopwatch(): (count: number) => Result {
  const cpuBefore = process.cpuUsage()
  const started = performance.now()
  return count => {
    const milliseconds = performance.now() - started
    const { user, system } = process.cpuUsage(cpuBefore)
    return { count, milliseconds, cpu: (user + system) / 1_000 }
  }
}

/** What is alive: needs `--expose-gc`. */
export function liveBytes(): number {
  for (let i = 0; i < 3; i++) (globalThis as { gc?: () => void }).gc?.()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

export function residentBytes(): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) * 1_024
}

/** Says that the program is ready and waits for the signal to begin. */
export async function startSignal(): Promise<void> {
  report({ ready: true })
  const lines = createInterface(process.stdin)
  await new Promise<void>(resolve => lines.once('line', () => resolve()))
  lines.close()
}
