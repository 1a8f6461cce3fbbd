import { isIP } from 'node:net'
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { addChart } from './chart/command.ts'
import {
  configOption,
  dataDirOption,
  nodesOption,
  parseCount,
  portOption,
  runtimeOption,
} from './command-options.ts'
import { addCompletion } from './completion/command.ts'
import { addConvert } from './convert/command.ts'
import { addDeploy } from './deploy/command.ts'
import { CommandError, unwrapSuppressed } from './exit.ts'
import { addSettings, completeBooleans, devSettings, runSettings, upSettings } from './host/settings.ts'
import { addImage } from './image/command.ts'
import { addImport } from './import/command.ts'
import { addKustomize } from './kustomize/command.ts'
import { addManifests } from './manifests/command.ts'
import { isChild, stopWithParent } from './parent.ts'
import { addScaffold } from './scaffold/command.ts'
import { addSubcommand } from './subcommand.ts'
import { addTypes } from './types/command.ts'
import { addAdmissionOptions } from './up/options/admission-options.ts'
import { addAuditOptions } from './up/options/audit-options.ts'
import { addAuthenticationOptions, checkDuration } from './up/options/authentication-options.ts'
import { addAuthorizationOptions } from './up/options/authorization-options.ts'
import { addControllerOptions } from './up/options/controller-options.ts'
import { addKubeletOptions } from './up/options/kubelet-options.ts'
import { addSchedulerOptions } from './up/options/scheduler-options.ts'
import { addServiceProxyOptions } from './up/options/service-proxy-options.ts'
import { addServingOptions } from './up/options/serving-options.ts'

/** Runs the command line and sets the exit code: 0 clean, 1 runtime failure, 2 bad usage. */
export async function main(argv: readonly string[]): Promise<void> {
  // A closed pipe, as with `| head`, is not an error.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', ignoreClosedPipe)
  try {
    if (argv[2] === '__complete')
      return await (await import('./completion/complete.ts')).runComplete(createProgram(), argv.slice(3))
    await createProgram().parseAsync(argv[2] === 'run' || argv[2] === 'dev' ? completeBooleans(argv) : argv)
  } catch (error) {
    process.exitCode = report(error)
  }
}

function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error
}

function report(thrown: unknown): number {
  const error = unwrapSuppressed(thrown)
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (error instanceof CommandError) {
    process.stderr.write(`coxswain: ${error.message}\n`)
    return error.exitCode
  }
  process.stderr.write(
    `coxswain: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  )
  return 1
}

/** The command line of `coxswain`. */
export function createProgram(): Command {
  const program = new Command('coxswain')
    .description(
      'Kubernetes-native programming in TypeScript: an API server, operators, and the tools around them.',
    )
    .version('0.1.0', '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print the help of a command')
    .enablePositionalOptions() // --version after a command is an option of the command
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(`coxswain: ${text.replace(/^error: /, '')}`) })
    .showHelpAfterError('(coxswain --help lists the commands)')
    .hook('preAction', (_, command) => refuseEmptyPaths(command))
  addUp(program)
  addRun(program)
  addDev(program)
  addKubeconfig(program)
  addStore(program)
  addManifests(program)
  addConvert(program)
  addKustomize(program)
  addTypes(program)
  addDeploy(program)
  addScaffold(program)
  addCompletion(program)
  addImage(program)
  addChart(program)
  addImport(program)
  return program
}

function addUp(program: Command): void {
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
    .action(async (options, up: Command) => {
      if (isChild()) stopWithParent()
      const { runUp } = await import('./up/up.ts')
      await runUp(options, givenOptions(up))
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

function addRun(program: Command): void {
  addSettings(addSubcommand(program, 'run'), runSettings)
    .description('Run operators against the cluster of the current kubeconfig.')
    .argument('[file...]', 'TypeScript or JavaScript files whose default export is an operator')
    .option('--webhook-cert-dir <dir>', 'the older name of --webhook-cert-path')
    .addOption(configOption())
    .addHelpText('after', runHelp)
    .option('--watch', 'restart in a new process whenever a file of the operators is saved', false)
    .action(async (files: string[], { watch }, run: Command) => {
      if (watch && !isChild()) return await (await import('./run/watch.ts')).runWatch(files)
      const { runRun } = await import('./run/run.ts')
      if (!watch) return await runRun(files, run)
      const { waitForTurn } = await import('./run/watch-child.ts')
      const { onReady, succession } = await waitForTurn()
      await runRun(files, run, { onReady: () => onReady(), succession })
    })
}

const runHelp = `
Flags take precedence over environment variables, and those over the configuration file:

  import { defineConfig } from 'coxswain'
  export default defineConfig({ operators: ['operator.ts'], leaderElect: true, metricsBindAddress: ':8443' })

All operators share one connection, their caches and one lease. SIGUSR2 cycles the log level through debug, info, warn and
error. SIGINT or SIGTERM stops them cleanly.

Examples:
  coxswain run --install operator.ts
  coxswain run --leader-elect --metrics-bind-address :8443 --health-probe-bind-address :8081 operator.ts

Exit codes: 0 stopped cleanly, 1 runtime failure or leader election lost, 2 bad usage.`

function addDev(program: Command): void {
  addSettings(addSubcommand(program, 'dev'), devSettings)
    .description(
      'Develop operators: a control plane, and beside it operators that run again when a file of theirs is saved.',
    )
    .argument('[file...]', 'TypeScript or JavaScript files whose default export is an operator')
    .addOption(portOption())
    .addOption(dataDirOption())
    .addOption(
      new Option('--storage <kind>', 'where objects are kept')
        .choices(['sqlite', 'memory'])
        .default('sqlite'),
    )
    .addOption(nodesOption())
    .addOption(runtimeOption())
    .addOption(configOption())
    .addHelpText('after', devHelp)
    .action(async (files: string[], options, dev: Command) => {
      if (isChild()) return await (await import('./dev/dev-operators.ts')).runDevOperators(files, dev)
      await (await import('./dev/dev.ts')).runDev(files, options)
    })
}

const devHelp = `
Prints the KUBECONFIG to export, and what to try. CustomResourceDefinitions are installed, and updated when they change; webhooks
are reached on this machine. A file that cannot be loaded is reported, and the next save tries again. coxswain.config.ts is read as
by coxswain run, except for the connection and leader election. SIGINT or SIGTERM stops operators and control plane.

Examples:
  coxswain dev operator.ts
  coxswain dev --port 0 --storage memory operator.ts

Exit codes: 0 stopped cleanly, 1 runtime failure, 2 bad usage.`

function addKubeconfig(program: Command): void {
  addSubcommand(program, 'kubeconfig')
    .description(
      'Issue a client certificate through a CertificateSigningRequest and print a kubeconfig that uses it.',
    )
    .requiredOption('--user <name>', 'the user that the certificate is for', parseName)
    .option('--group <name...>', 'groups of the user')
    .addOption(
      new Option(
        '--duration <duration>',
        'how long the certificate is valid (default: the longest that the signer allows)',
      ).argParser(checkDuration),
    )
    .option(
      '--kubeconfig <file>',
      'kubeconfig of a user who may approve requests (default: $KUBECONFIG, ~/.kube/config)',
    )
    .option('--context <name>', 'the context to use')
    .option('--output <file>', 'where to write the kubeconfig (default: standard output)')
    .addHelpText('after', kubeconfigHelp)
    .action(async options => {
      const { runKubeconfig } = await import('./kubeconfig/kubeconfig.ts')
      await runKubeconfig(options)
    })
}

const kubeconfigHelp = `
The user may do nothing until a binding says otherwise.

Examples:
  coxswain kubeconfig --user jane --group devs > jane.kubeconfig
  kubectl create rolebinding devs-edit --clusterrole edit --group devs

Exit codes: 0 issued, 1 denied or not signed in time, 2 bad usage.`

function addStore(program: Command): void {
  const store = addSubcommand(program, 'store').description(
    'Check, back up and restore the store of a data directory; a server may be using it.',
  )
  const withDirectory = (command: Command) =>
    command.option('--data-dir <dir>', 'the data directory of coxswain up', '.coxswain')
  withDirectory(addSubcommand(store, 'check'))
    .description('Read the whole store and verify its integrity.')
    .action(async options => (await import('./store/store.ts')).runCheck(options))
  withDirectory(addSubcommand(store, 'backup'))
    .description('Copy the current state, with its history, to a file.')
    .argument('<file>', 'the file to write')
    .action(async (file: string, options) => (await import('./store/store.ts')).runBackup(file, options))
  withDirectory(addSubcommand(store, 'restore'))
    .description(
      'Replace the content of the store with a backup; a running server sends the differences as watch events.',
    )
    .argument('<file>', 'a file written by backup')
    .action(
      async (file: string, options) => await (await import('./store/store.ts')).runRestore(file, options),
    )
}

/** The options that the command line names: property to flag. */
function givenOptions(command: Command): ReadonlyMap<string, string> {
  return new Map(
    command.options
      .map(option => [option.attributeName(), option.long ?? option.flags] as const)
      .filter(([property]) => command.getOptionValueSource(property) === 'cli'),
  )
}

/** An empty path, as from an unset variable, would mean the current directory. */
function refuseEmptyPaths(command: Command): void {
  for (const option of command.options) {
    if (!/<(file|dir)(\.\.\.)?>/.test(option.flags)) continue
    const value: unknown = command.getOptionValue(option.attributeName())
    if (value === '' || (Array.isArray(value) && value.includes('')))
      throw new CommandError(`${option.long} must not be empty: it names a file or directory`, {
        exitCode: 2,
      })
  }
}

function parseName(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('must not be empty.')
  return text
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
