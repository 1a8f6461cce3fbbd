import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A cgroup below this process's own in every hierarchy of cgroup v1. */
export interface HostCgroup {
  /** As mount(8) takes them, such as `memory` or `name=systemd`. */
  readonly hierarchies: readonly string[]
  readonly directories: readonly string[]
}

/** Creates them. Throws where this machine has no hierarchies of version 1, or does not let this process. */
export function createHostCgroup(name: string): HostCgroup {
  const own = ownCgroups()
  if (!own.some(({ controllers }) => controllers === 'memory'))
    throw new Error(
      `kubelets need a cgroup of their own, and this suite knows how to give them one only where /proc/self/cgroup has the hierarchies of version 1; it has:\n${readFileSync('/proc/self/cgroup', 'utf8')}`,
    )
  const directories = own.map(({ directory }) => join(directory, name))
  for (const [index, directory] of directories.entries()) {
    mkdirSync(directory)
    if (own[index]!.controllers.split(',').includes('cpuset')) inheritCpuset(own[index]!.directory, directory)
  }
  return { hierarchies: own.map(({ controllers }) => controllers), directories }
}

interface OwnCgroup {
  readonly controllers: string
  readonly directory: string
}

function ownCgroups(): OwnCgroup[] {
  const mounts = readFileSync('/proc/self/mountinfo', 'utf8').split('\n')
  return readFileSync('/proc/self/cgroup', 'utf8')
    .split('\n')
    .flatMap(line => {
      const [, controllers = '', path = ''] = /^\d+:([^:]+):(.*)$/.exec(line) ?? []
      const mount = mounts.find(each => each.includes(' - cgroup ') && optionsOf(each).has(controllers))
      return controllers !== '' && mount ? [{ controllers, directory: join(mount.split(' ')[4]!, path) }] : []
    })
}

function optionsOf(mount: string): Set<string> {
  const options = mount.split(' ').at(-1)!
  const named = /name=[^,]+/.exec(options)
  return new Set([...(named ? [named[0]] : []), options.split(',').slice(1).join(',')])
}

/** A cpuset without processors takes no process. */
function inheritCpuset(parent: string, directory: string): void {
  for (const file of ['cpuset.cpus', 'cpuset.mems'])
    writeFileSync(join(directory, file), readFileSync(join(parent, file)))
}
