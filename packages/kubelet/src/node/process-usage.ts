import { readFileSync } from 'node:fs'
import { containerVariable, listProcesses, markOf, statFields } from './process-registry.ts'

export interface ProcessUsage {
  readonly cpuNanoseconds: number
  readonly memoryBytes: number
}

/** Linux counts processor time in hundredths of a second for everybody. */
const nanosecondsPerTick = 10_000_000

/**
 * What the processes of each container use, by the value of the variable that marks them. Commands that were run beside a
 * container (`ID-exec-N`) count for it. Empty where there is no /proc.
 */
export function readUsage(): Map<string, ProcessUsage> {
  const usage = new Map<string, ProcessUsage>()
  for (const pid of listProcesses()) {
    try {
      const value = markOf(pid, containerVariable)
      if (value === undefined) continue
      const id = containerOf(value)
      const known = usage.get(id) ?? { cpuNanoseconds: 0, memoryBytes: 0 }
      usage.set(id, {
        cpuNanoseconds: known.cpuNanoseconds + readTicks(pid) * nanosecondsPerTick,
        memoryBytes: known.memoryBytes + readMemory(pid),
      })
    } catch {
      // gone, or somebody else's
    }
  }
  return usage
}

/** The container that a mark belongs to, its own or that of a command that was run beside it. */
export function containerOf(mark: string): string {
  return mark.replace(/-exec-\d+$/, '')
}

/** Its own time, and that of its children that have ended. */
function readTicks(pid: string): number {
  const fields = statFields(pid) ?? []
  return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
}

function readMemory(pid: string): number {
  const kilobytes = /^VmRSS:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kilobytes ?? 0) * 1024
}
