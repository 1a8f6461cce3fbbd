import { readFileSync, statfsSync } from 'node:fs'
import { arch, availableParallelism, platform, release, totalmem } from 'node:os'
import type { NodeFacts } from '../container-runtime.ts'

/** As Go names them. */
const architectures: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' }
/** As many Pods as kubelets take. */
const maxPods = '110'

/** What this machine is made of; each node has all of it. `directory` is where volumes are. */
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
  }
}

/** Empty where there is no such file. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return ''
  }
}
