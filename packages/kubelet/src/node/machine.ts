import { readFileSync, statfsSync } from 'node:fs'
import { arch, availableParallelism, cpus, freemem, platform, release, totalmem, uptime } from 'node:os'
import type { NodeFacts, NodeUsage } from '../container-runtime.ts'

/** As Go names them. */
const architectures: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' }
/** The kubelet's default limit of Pods. */
const maxPods = '110'

/** The capacity and system information of this machine; each node has all of it. `directory` is where volumes are. */
export function describeMachine(directory: string): NodeFacts {
  const { bsize, blocks } = statfsSync(directory)
  return {
    capacity: {
      cpu: String(availableParallelism()),
      'ephemeral-storage': `${Math.floor((bsize * blocks) / 1024)}Ki`,
      memory: `${Math.floor(totalmem() / 1024)}Ki`,
      pods: maxPods,
    },
    osImage: /^PRETTY_NAME="?([^"\n]*)/m.exec(read('/etc/os-release'))?.[1] ?? platform(),
    kernelVersion: release(),
    operatingSystem: platform(),
    architecture: architectures[arch()] ?? arch(),
    machineID: read('/etc/machine-id'),
    bootID: read('/proc/sys/kernel/random/boot_id'),
    etc: { hosts: read('/etc/hosts'), resolvConf: read('/etc/resolv.conf') },
  }
}

/** The current usage of this machine, this process and everything else. `directory` is where volumes are. */
export function measureMachine(directory: string): NodeUsage {
  const now = Date.now()
  const { bsize, blocks, bavail } = statfsSync(directory)
  const used = cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0)
  const kilobytes = /^MemAvailable:\s*(\d+) kB$/m.exec(read('/proc/meminfo'))?.[1]
  const available = kilobytes === undefined ? freemem() : Number(kilobytes) * 1024
  return {
    time: now,
    startedAt: now - uptime() * 1000,
    cpuNanoseconds: used * 1_000_000,
    memoryBytes: totalmem() - available,
    availableMemoryBytes: available,
    disk: { capacityBytes: bsize * blocks, availableBytes: bsize * bavail },
  }
}

/** Empty when the file does not exist. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return ''
  }
}
