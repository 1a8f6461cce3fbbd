import { Command, CommanderError } from 'commander'
import { CommandError, failureCode, unwrapSuppressed } from './exit.ts'
import { versionLine } from './version.ts'

/** Runs the command line and sets the exit code: 0 clean, 1 runtime failure, 2 bad usage. */
export async function main(argv: readonly string[]): Promise<void> {
  // A closed pipe, as with `| head`, is not an error.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', ignoreClosedPipe)
  try {
    const [, , name, ...words] = argv
    if (name === '__complete')
      return await (await import('./completion/complete.ts')).runComplete(await createProgram(), words)
    const program = await createProgram(name)
    const isHost = name === 'run' || name === 'dev'
    await program.parseAsync(isHost ? (await import('./host/settings.ts')).completeBooleans(argv) : argv)
  } catch (error) {
    process.exitCode = report(error)
  }
}

function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error
}

function report(thrown: unknown): number {
  const error = unwrapSuppressed(thrown)
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : error.code === failureCode ? 1 : 2
  if (error instanceof CommandError) {
    process.stderr.write(`coxswain: ${error.message}\n`)
    return error.exitCode
  }
  process.stderr.write(
    `coxswain: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  )
  return 1
}

/** The commands by the module that adds them, in the order of --help. Only the module of the command that runs is loaded. */
const commands: readonly (readonly [
  names: readonly string[],
  load: () => Promise<(program: Command) => void>,
])[] = [
  // The stand-in for kube-apiserver passes its flags on to up.
  [['up', 'assets', 'envtest'], async () => (await import('./up/command.ts')).addUp],
  [['run'], async () => (await import('./run/command.ts')).addRun],
  [['dev'], async () => (await import('./dev/command.ts')).addDev],
  [['kubeconfig'], async () => (await import('./kubeconfig/command.ts')).addKubeconfig],
  [['cluster'], async () => (await import('./cluster/command.ts')).addCluster],
  [['store'], async () => (await import('./store/command.ts')).addStore],
  [['assets', 'envtest'], async () => (await import('./envtest/command.ts')).addEnvtest],
  [['manifests'], async () => (await import('./manifests/command.ts')).addManifests],
  [['rights'], async () => (await import('./rights/command.ts')).addRights],
  [['plan'], async () => (await import('./plan/command.ts')).addPlan],
  [['simulate'], async () => (await import('./simulate/command.ts')).addSimulate],
  [['torture'], async () => (await import('./torture/command.ts')).addTorture],
  [['convert'], async () => (await import('./convert/command.ts')).addConvert],
  [['kustomize'], async () => (await import('./kustomize/command.ts')).addKustomize],
  [['types'], async () => (await import('./types/command.ts')).addTypes],
  [
    ['deploy', 'undeploy', 'install', 'uninstall', 'apply', 'build-installer'],
    async () => (await import('./deploy/command.ts')).addDeploy,
  ],
  [['init', 'create', 'edit', 'upgrade'], async () => (await import('./scaffold/command.ts')).addScaffold],
  [['completion'], async () => (await import('./completion/command.ts')).addCompletion],
  [['image'], async () => (await import('./image/command.ts')).addImage],
  [['chart'], async () => (await import('./chart/command.ts')).addChart],
  [['import'], async () => (await import('./import/command.ts')).addImport],
]

/** The command line of `coxswain`: all of it, or with the one command that a command line names. */
export async function createProgram(name?: string): Promise<Command> {
  const program = new Command('coxswain')
    .description(
      'Kubernetes-native programming in TypeScript: an API server, operators, and the tools around them.',
    )
    .version(versionLine, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print the help of a command')
    .enablePositionalOptions() // --version after a command is an option of the command
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(`coxswain: ${text.replace(/^error: /, '')}`) })
    .showHelpAfterError('(coxswain --help lists the commands)')
    .hook('preAction', (_, command) => refuseEmptyPaths(command))
  const named = commands.filter(([names]) => name !== undefined && names.includes(name))
  const adders = await Promise.all((named.length > 0 ? named : commands).map(([, load]) => load()))
  for (const add of adders) add(program)
  return program
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
