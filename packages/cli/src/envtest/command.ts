import { type Command, Option } from 'commander'
import { addSubcommand } from '../subcommand.ts'

/** `coxswain assets` and `coxswain envtest`. */
export function addEnvtest(program: Command): void {
  addSubcommand(program, 'assets')
    .description(
      'Write stand-ins for kube-apiserver and etcd into a folder, for KUBEBUILDER_ASSETS of envtest.',
    )
    .argument('<dir>', 'the folder; programs that are there already are never replaced')
    .addHelpText('after', assetsHelp)
    .action(async (folder: string) => {
      const { writeAssets } = await import('./assets.ts')
      process.stdout.write(`${writeAssets(folder, program)}\n`)
    })
  const group = addSubcommand(program, 'envtest').description(
    "What envtest of controller-runtime starts: the stand-ins, and setup-envtest's command that finds them.",
  )
  addSubcommand(group, 'use')
    .description('Write the stand-ins where setup-envtest would put the real programs, and print where.')
    .argument('[version]', 'a version as setup-envtest takes it: only 1.36 is served')
    .option('--bin-dir <dir>', 'the folder that holds k8s/VERSION-OS-ARCH', '.coxswain/envtest')
    .addOption(
      new Option('-p, --print <form>', 'what to print')
        .choices(['overview', 'path', 'env'])
        .default('overview'),
    )
    .addHelpText('after', useHelp)
    .action(async (version: string | undefined, options) => {
      const { runUse } = await import('./use.ts')
      runUse(version, options, program)
    })
  standIn(group, 'kube-apiserver')
    .description('Serve as kube-apiserver would with these flags, on the store of the stand-in for etcd.')
    .addHelpText('after', apiserverHelp)
    .action(async (args: string[]) => {
      const { runApiserver } = await import('./kube-apiserver.ts')
      await runApiserver(args, program)
    })
  standIn(group, 'etcd')
    .description('Answer health checks as etcd would with these flags; speaks no gRPC.')
    .action(async (args: string[]) => {
      const { runEtcd } = await import('./etcd.ts')
      await runEtcd(args)
    })
}

/** A command whose flags are another program's. */
function standIn(group: Command, name: string): Command {
  return addSubcommand(group, name)
    .argument('[flag...]', `flags of ${name}`)
    .allowUnknownOption()
    .passThroughOptions()
}

const assetsHelp = `
Writes kube-apiserver, etcd, kubectl and setup-envtest. kubectl runs the real one from PATH. Prints the folder.
With COXSWAIN_CONTROL_LOOPS=true in the environment of the tests controllers, scheduler and one simulated node run as well.

Examples:
  KUBEBUILDER_ASSETS="$(coxswain assets bin/envtest)" go test ./...
  make test ENVTEST="$(coxswain assets bin/envtest)/setup-envtest"

Exit codes: 0 written, 1 a file is in the way or cannot be written, 2 bad usage.`

const useHelp = `
Examples:
  KUBEBUILDER_ASSETS="$(coxswain envtest use -p path)" go test ./...
  coxswain envtest use 1.36.x --bin-dir bin -p env

Exit codes: 0 written, 1 another version is wanted or a file is in the way, 2 bad usage.`

const apiserverHelp = `
The defaults are kube-apiserver's: authorization mode AlwaysAllow, address 0.0.0.0, no controllers. Certificates, keys and other files are
those of the flags. Flags that cannot change an answer are accepted and named in one warning; values that would change answers and cannot
are refused. docs/drop-in.md lists both.

Exit codes: 0 stopped cleanly, 1 an unknown flag, a refused value or a runtime failure, 2 bad usage.`
