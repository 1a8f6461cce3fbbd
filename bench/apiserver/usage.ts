import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** Milliseconds of processor time that all threads of these processes have used. */
export function cpuMilliseconds(pids: readonly number[]): number {
  let total = 0
  for (const pid of pids) {
    // In clock ticks of ten milliseconds: enough for work of a second or more.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    total += (Number(fields[11]) + Number(fields[12])) * 10
  }
  return total
}

export function residentMegabytes(pids: readonly number[]): number {
  let total = 0
  for (const pid of pids) {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    total += Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1_000
  }
  return total
}

/** The processes of this machine behind a port: who listens there, and the etcd that it uses. */
export function findServer(port: number): readonly number[] {
  const pid = findListener(port)
  if (pid === undefined) return []
  const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  const etcd = /--etcd-servers(?:=|\0)https?:\/\/(?:127\.0\.0\.1|localhost):(\d+)/.exec(command)?.[1]
  const store = etcd === undefined ? undefined : findListener(Number(etcd))
  return store === undefined ? [pid] : [pid, store]
}

function findListener(port: number): number | undefined {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const inodes = new Set<string>()
  for (const file of ['/proc/net/tcp', '/proc/net/tcp6']) {
    for (const line of readFileSync(file, 'utf8').split('\n').slice(1)) {
      const fields = line.trim().split(/\s+/)
      if (fields[1]?.endsWith(suffix) && fields[3] === '0A') inodes.add(`socket:[${fields[9]}]`)
    }
  }
  for (const pid of readdirSync('/proc')) {
    if (!/^\d+$/.test(pid)) continue
    try {
      for (const fd of readdirSync(`/proc/${pid}/fd`)) {
        if (inodes.has(readlinkSync(`/proc/${pid}/fd/${fd}`))) return Number(pid)
      }
    } catch {
      // Gone, or not ours to look at.
    }
  }
  return undefined
}
