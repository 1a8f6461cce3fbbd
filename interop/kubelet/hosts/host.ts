import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type RunOptions, runOrFail } from '../../../tools/components/process.ts'
import { createHostCgroup, type HostCgroup } from './cgroups.ts'
import type { Janitor } from './janitor.ts'

const script = fileURLToPath(new URL('host.sh', import.meta.url))

/** Network, mount, PID, UTS, IPC and cgroup namespaces of their own. They and all processes in them end with the janitor. */
export interface Host {
  readonly name: string
  /** On disk; it is there under the same path inside. */
  readonly folder: string
  /** The process id of its first process, as this process sees it. */
  readonly pid: number
  /** Runs a program inside to its end and gives its output; one that fails rejects. */
  run(command: string, args: readonly string[], options?: RunOptions): Promise<string>
  /** Starts a program inside. */
  spawn(command: string, args: readonly string[], options?: SpawnOptions): ChildProcess
  /** The command line that runs a program inside. */
  enter(command: string, args: readonly string[]): readonly [string, ...string[]]
}

export interface HostOptions {
  readonly name: string
  /** A folder on a real disk, for this host alone. */
  readonly folder: string
  readonly janitor: Janitor
  /** A tree of files that is added to the host; it then has files and cgroups of its own, as a node needs. */
  readonly programs?: string
}

const joinCgroups =
  'n=$1; shift; while [ $n -gt 0 ]; do echo $$ > "$1/cgroup.procs"; shift; n=$((n-1)); done; exec "$@"'
const namespaces = ['--net', '--mount', '--pid', '--uts', '--ipc', '--cgroup']

export async function startHost({ name, folder, janitor, programs }: HostOptions): Promise<Host> {
  for (const each of ['memory', 'disk']) mkdirSync(join(folder, each), { recursive: true })
  const cgroup: HostCgroup = programs
    ? createHostCgroup(`coxswain-${process.pid}-${name}`)
    : { hierarchies: [], directories: [] }
  for (const directory of cgroup.directories) janitor.remember('cgroup', directory)
  const into = (command: readonly string[]) =>
    [
      '/bin/sh',
      '-c',
      joinCgroups,
      'sh',
      `${cgroup.directories.length}`,
      ...cgroup.directories,
      ...command,
    ] as const
  const init = ['/bin/sh', script, name, folder, programs ?? '', cgroup.hierarchies.join(' ')]
  const [shell, ...args] = into([
    ...['setpriv', '--pdeathsig', 'KILL', 'unshare', ...namespaces, '--fork', '--kill-child', ...init],
  ])
  const holder = spawn(shell, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  janitor.remember('process', holder.pid!)
  await untilReady(holder, name)
  const pid = Number(readFileSync(`/proc/${holder.pid}/task/${holder.pid}/children`, 'utf8').trim())
  janitor.remember('process', pid)
  const enter = (command: string, rest: readonly string[]) =>
    into(['nsenter', `--target=${pid}`, ...namespaces, '--', command, ...rest])
  return {
    name,
    folder,
    pid,
    enter,
    run(command, rest, options) {
      const [first, ...more] = enter(command, rest)
      return runOrFail(first, more, options)
    },
    spawn(command, rest, options = {}) {
      const [first, ...more] = enter(command, rest)
      return spawn(first, more, options)
    },
  }
}

function untilReady(holder: ChildProcess, name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let output = ''
    for (const stream of [holder.stdout!, holder.stderr!])
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        output += chunk
        if (/^ready$/m.test(output)) resolve()
      })
    holder.on('error', reject)
    holder.on('exit', code =>
      reject(
        new Error(
          `this machine does not let the suite make the host ${name} in namespaces of its own (code ${code}); root is needed:\n${output}`,
        ),
      ),
    )
  })
}
