import { readFileSync } from 'node:fs'
import { containerVariable, listProcesses, markOf, statFields } from './process-registry.ts'

export interface ProcessUsage {
  readonly cpuNanoseconds: number
  readonly memoryBytes: number
}

/** Linux reports CPU time in hundredths of a second. */
const nanosecondsPerTick = 10_000_000

/**
 * The usage of each container's processes, by the value of the variable that marks them. Commands that were run in a
 * container (`ID-exec-N`) count for it. Empty without /proc.
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
      // it has ended, or belongs to another user
    }
  }
  return usage
}

/** The container that a mark belongs to, its own or that of an exec command. */
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
