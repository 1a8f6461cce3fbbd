import { isIP } from 'node:net'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { configOption, dataDirOption, nodesOption, parseCount, runtimeOption } from '../command-options.ts'
import { addSettings, upSettings } from '../host/settings.ts'
import { isChild, stopWithParent } from '../parent.ts'
import { addSubcommand } from '../subcommand.ts'
import { addAdmissionOptions } from './options/admission-options.ts'
import { addAuditOptions } from './options/audit-options.ts'
import { addAuthenticationOptions, checkDuration } from './options/authentication-options.ts'
import { addAuthorizationOptions } from './options/authorization-options.ts'
import { addControllerOptions } from './options/controller-options.ts'
import { addKubeletOptions } from './options/kubelet-options.ts'
import { addSchedulerOptions } from './options/scheduler-options.ts'
import { addServiceProxyOptions } from './options/service-proxy-options.ts'
import { addServingOptions } from './options/serving-options.ts'

/** Adds `coxswain up`. */
export function addUp(program: Command): void {
  const command = addSubcommand(program, 'up')
  for (const add of [
    addServingOptions,
    addAuthenticationOptions,
    addAuthorizationOptions,
    addAdmissionOptions,
    addAuditOptions,
    addControllerOptions,
    addKubeletOptions,
    addSchedulerOptions,
    addServiceProxyOptions,
  ])
    add(command)
  addSettings(command, upSettings)
    .description(
      'Start the control plane: an API server on https://127.0.0.1, its controllers, and operators.',
    )
    .option('--event-ttl <duration>', 'how long events are kept', checkDuration, '1h0m0s')
    .addOption(dataDirOption())
    .addOption(
      new Option('--storage <kind>', 'where objects are stored')
        .choices(['sqlite', 'memory', 'etcd'])
        .default('sqlite'),
    )
    .option(
      '--unsafe-no-fsync',
      'with --storage sqlite: do not wait for the disk; a power failure may damage the store',
      false,
    )
    .option('--etcd-servers <urls>', 'comma-separated etcd endpoints, for --storage etcd', parseList)
    .option('--etcd-prefix <prefix>', 'the prefix of all keys in etcd', '/registry')
    .option('--etcd-cafile <file>', 'CA that signed the certificates of etcd')
    .option('--etcd-certfile <file>', 'client certificate for etcd')
    .option('--etcd-keyfile <file>', 'key of the client certificate for etcd')
    .addOption(
      new Option('--max-requests-inflight <n>', 'the most concurrent read-only requests')
        .default(400)
        .argParser(parseCount),
    )
    .addOption(
      new Option('--max-mutating-requests-inflight <n>', 'the most concurrent mutating requests')
        .default(200)
        .argParser(parseCount),
    )
    .addOption(
      new Option(
        '--enable-priority-and-fairness <bool>',
        'queue requests over the limit by FlowSchemas and PriorityLevelConfigurations; otherwise they are rejected',
      )
        .choices(['true', 'false'])
        .default('true'),
    )
    .option(
      '--encryption-provider-config <file>',
      'EncryptionConfiguration: which resources are encrypted at rest, and how',
    )
    .option(
      '--encryption-provider-config-automatic-reload',
      'reload that file within a minute when it changes',
      false,
    )
    .option('--kubeconfig <file>', 'where to write the kubeconfig (default: DATA-DIR/kubeconfig)')
    .option(
      '--kinds <list>',
      'built-in kinds to serve: all; generic, those that know nothing of Pods; or names such as deployments.apps',
      parseList,
      ['all'],
    )
    .option(
      '--controllers <list>',
      "controllers to run: '*', names, '-name' to exclude one, or none",
      parseList,
      ['*'],
    )
    .addOption(nodesOption())
    .addOption(runtimeOption())
    .option('--missing-images <list>', 'images that simulated nodes cannot get', parseList)
    .option('--operator <file...>', 'operators to run beside the server; their kinds are installed')
    .addOption(configOption())
    .addOption(
      new Option('--service-cluster-ip-range <cidr>', 'the range of cluster IPs')
        .default('10.96.0.0/12')
        .argParser(parseServiceRange),
    )
    .addOption(
      new Option('--log-level <level>', 'the least severe messages to log to standard error')
        .choices(['debug', 'info', 'warn', 'error'])
        .default('warn'),
    )
    .addHelpText('after', upHelp)
    .action(async ({ operator, config }, up: Command) => {
      if (isChild()) stopWithParent()
      if (operator) {
        const { applyConfig, loadConfig } = await import('../host/load-config.ts')
        const loaded = await loadConfig(config)
        if (loaded) applyConfig(up, upSettings, loaded)
      }
      const { runUp } = await import('./up.ts')
      await runUp(up.opts(), givenOptions(up))
    })
}

const upHelp = `
Prints one line with the URL and the kubeconfig when Pods can be created, and operators with their webhooks are ready.
SIGINT or SIGTERM stops it cleanly.

Examples:
  coxswain up                                  a control plane in .coxswain, on port 6443
  coxswain up --port 0 --storage memory        a throw-away one on a free port
  coxswain up --operator examples/01-at/operator.ts
  coxswain up --kinds generic                  a control plane for a domain of your own: no Pods, only what every API needs

Exit codes: 0 stopped cleanly, 1 runtime failure, 2 bad usage.`

/** The options that the command line names: property to flag. */
function givenOptions(command: Command): ReadonlyMap<string, string> {
  return new Map(
    command.options
      .map(option => [option.attributeName(), option.long ?? option.flags] as const)
      .filter(([property]) => command.getOptionValueSource(property) === 'cli'),
  )
}

/** A CIDR, or one of each family with a comma. */
function parseServiceRange(text: string): string {
  const families = text.split(',').map(familyOfRange)
  if (families.includes(0) || new Set(families).size !== families.length)
    throw new InvalidArgumentError(
      'must be a CIDR such as 10.96.0.0/12, or one of each family separated by a comma.',
    )
  return text
}

/** 4, 6, or 0 for an invalid CIDR. */
function familyOfRange(cidr: string): number {
  const [address = '', prefix = ''] = cidr.split('/', 2)
  const family = isIP(address)
  const isPrefix = /^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128)
  return cidr === `${address}/${prefix}` && isPrefix ? family : 0
}

function parseList(text: string): string[] {
  return text
    .split(',')
    .map(item => item.trim())
    .filter(item => item !== '')
}
