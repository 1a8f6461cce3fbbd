import { mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** In the environment of every process that a runtime starts; the value is the runtime's directory. */
export const markerVariable = 'COXSWAIN_NODE'
/** The same, for one container or command. */
export const containerVariable = 'COXSWAIN_CONTAINER'

/** How often the search for respawned processes is repeated. */
const maxLooks = 100

interface Entry {
  readonly pid: number
  /** In clock ticks since the machine's start; empty where it is unknown. */
  readonly startTime: string
}

/**
 * The process groups that a runtime has started, in files, so that a later run can end them: a file per group with the
 * leader's id and start time, since ids are reused. On Linux, processes that have left their group are found by their
 * parents and by a variable in their environment.
 */
export class ProcessRegistry {
  readonly #directory: string
  readonly #marker: string

  constructor(directory: string, marker: string) {
    this.#directory = directory
    this.#marker = marker
    mkdirSync(directory, { recursive: true })
  }

  add(pid: number): void {
    const entry: Entry = { pid, startTime: startTimeOf(pid) ?? '' }
    writeFileSync(join(this.#directory, String(pid)), JSON.stringify(entry))
  }

  remove(pid: number): void {
    rmSync(join(this.#directory, String(pid)), { force: true })
  }

  /** Ends all processes that this or an earlier run of the runtime has left behind. */
  killAll(): void {
    for (const file of readdirSync(this.#directory)) {
      const path = join(this.#directory, file)
      try {
        const { pid, startTime } = JSON.parse(readFileSync(path, 'utf8')) as Entry
        const now = startTimeOf(pid)
        // A leader that has ended leaves its id to the group; one that started later leads another.
        if (now === undefined || now === startTime) killTree(pid)
      } catch {
        // not a registry file, or half written: the environment identifies the processes
      }
      rmSync(path, { force: true })
    }
    // Processes may start others faster than they are found: search again.
    const isOurs = (value: string) => value === this.#marker
    for (let look = 0; look < maxLooks; look++) if (killMarked(markerVariable, isOurs).size === 0) return
  }
}

/** False when the group no longer exists. */
export function killGroup(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(-pid, signal)
    return true
  } catch {
    return false
  }
}

/** Ends a group, and descendants of its leader that have left the group. */
function killTree(leader: number): void {
  const strays = findDescendants(leader)
  killGroup(leader, 'SIGKILL')
  killEach(strays)
}

/** The processes below another one, with their start times. Needs /proc. */
export function findDescendants(leader: number): ReadonlyMap<number, string> {
  return new Map(descendantsOf(leader).map(pid => [pid, startTimeOf(pid) ?? '']))
}

/** Ends those whose ids have not been reused. */
export function killEach(processes: ReadonlyMap<number, string>): void {
  for (const [pid, startTime] of processes) {
    if (startTimeOf(pid) === startTime) killOne(pid)
  }
}

function descendantsOf(pid: number): number[] {
  const children = new Map<number, number[]>()
  for (const name of listProcesses()) {
    const parent = Number(statFields(name)?.[1])
    children.set(parent, [...(children.get(parent) ?? []), Number(name)])
  }
  const found: number[] = []
  for (let level = [pid]; level.length > 0; ) {
    level = level.flatMap(parent => children.get(parent) ?? [])
    for (const item of level) found.push(item)
  }
  return found
}

/** The fields of a process after its name, which is in parentheses and may hold anything: state, parent, ... */
export function statFields(pid: number | string): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    return undefined
  }
}

/** The value of a variable in the environment of a process. Needs /proc. */
export function markOf(pid: number | string, variable: string): string | undefined {
  try {
    const environment = `\0${readFileSync(`/proc/${pid}/environ`, 'latin1')}\0`
    const at = environment.indexOf(`\0${variable}=`)
    if (at === -1) return undefined
    const start = at + variable.length + 2
    return environment.slice(start, environment.indexOf('\0', start))
  } catch {
    return undefined // it has ended, or belongs to another user
  }
}

/** Ends the processes whose mark satisfies `isWanted`; returns the marks that were found. */
export function killMarked(
  variable: string,
  isWanted: (value: string, pid: string) => boolean,
): ReadonlySet<string> {
  const found = new Set<string>()
  for (const pid of listProcesses()) {
    if (Number(pid) === process.pid) continue
    const value = markOf(pid, variable)
    if (value === undefined || !isWanted(value, pid)) continue
    found.add(value)
    killOne(Number(pid))
  }
  return found
}

export function killOne(pid: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    process.kill(pid, signal)
  } catch {
    // it has just ended
  }
}

/**
 * The first process in another namespace of this kind among the process `leader` and its descendants. Undefined when there is
 * none, or it has ended.
 */
export function findFirstProcess(leader: number, namespace: 'mnt' | 'pid'): number | undefined {
  const of = (pid: number | 'self') => {
    try {
      return readlinkSync(`/proc/${pid}/ns/${namespace}`)
    } catch {
      return undefined
    }
  }
  const own = of('self')
  return [leader, ...descendantsOf(leader)].find(pid => {
    const other = of(pid)
    return other !== undefined && other !== own
  })
}

/** The ids of all processes; empty without /proc. */
export function listProcesses(): string[] {
  try {
    return readdirSync('/proc').filter(name => /^\d+$/.test(name))
  } catch {
    return []
  }
}

/** Undefined when the process does not exist; empty where it is unknown. */
function startTimeOf(pid: number): string | undefined {
  const startTime = statFields(pid)?.[19]
  if (startTime !== undefined) return startTime
  // No such process, or no /proc.
  try {
    process.kill(pid, 0)
    return ''
  } catch {
    return undefined
  }
}
