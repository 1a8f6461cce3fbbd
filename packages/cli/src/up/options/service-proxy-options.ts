import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'

/** Options of nodes whose containers are processes. */
export interface ServiceProxyFlags {
  readonly serviceProxy: 'true' | 'false'
  readonly isolation: 'auto' | 'namespaces' | 'none'
  /** Images and their folders. */
  readonly image?: ReadonlyMap<string, string>
}

export function addServiceProxyOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--isolation <kind>',
        'with --runtime process: containers have mount, PID and UTS namespaces (namespaces), share files and processes of this machine (none), or have namespaces where this machine allows them (auto)',
      )
        .choices(['auto', 'namespaces', 'none'])
        .default('auto'),
    )
    .addOption(
      new Option(
        '--image <name=folder>',
        'with --runtime process: a folder of this machine as an image, in which containers run coxswain with their args (run operator.ts); may be repeated',
      ).argParser(parseImage),
    )
    .addOption(
      new Option(
        '--service-proxy <bool>',
        'with --runtime process: make Services reachable on this machine, node ports at 127.0.0.1, a cluster IP 10.b.c.d at 127.b.c.d',
      )
        .choices(['true', 'false'])
        .default('true'),
    )
}

function parseImage(text: string, before: ReadonlyMap<string, string> = new Map()): Map<string, string> {
  const [, name, folder] = /^([^=\s]+)=(.+)$/.exec(text) ?? []
  if (!name || !folder) throw new InvalidArgumentError('An image is NAME=FOLDER.')
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new InvalidArgumentError(`${folder} is not a directory.`)
  return new Map([...before, [name, resolve(folder)]])
}

/** Simulated Pods do not listen: there is nothing to connect to. */
export function hasServiceProxy(
  options: ServiceProxyFlags & { readonly runtime: 'simulated' | 'process' },
): boolean {
  return options.runtime === 'process' && options.serviceProxy === 'true'
}
