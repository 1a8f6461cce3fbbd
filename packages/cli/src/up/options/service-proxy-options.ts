import { type Command, Option } from 'commander'

export interface ServiceProxyFlags {
  readonly serviceProxy: 'true' | 'false'
}

export function addServiceProxyOptions(command: Command): Command {
  return command.addOption(
    new Option(
      '--service-proxy <bool>',
      'whether, with --runtime process, services answer on this machine: node ports at 127.0.0.1, a cluster IP 10.b.c.d at 127.b.c.d',
    )
      .choices(['true', 'false'])
      .default('true'),
  )
}

/** Simulated Pods do not listen: there is nobody to connect to. */
export function hasServiceProxy(
  options: ServiceProxyFlags & { readonly runtime: 'simulated' | 'process' },
): boolean {
  return options.runtime === 'process' && options.serviceProxy === 'true'
}
