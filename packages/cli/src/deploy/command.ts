import { type Command, Option } from 'commander'
import { readBoolean, readDuration, readText } from '../host/parsers.ts'
import { addSubcommand } from '../subcommand.ts'
import type {
  ApplyCommandOptions,
  DeployCommandOptions,
  InstallerCommandOptions,
  RemoveCommandOptions,
} from './options.ts'

/** Adds deploy, undeploy, install, uninstall, apply and build-installer. */
export function addDeploy(program: Command): void {
  const actions = () => import('./deploy.ts')
  addApplyOptions(addSubcommand(program, 'deploy'))
    .description(
      'Deploy the project of this folder: apply config/default, prune what it no longer has, wait until it is ready.',
    )
    .addOption(imageOption())
    .addHelpText('after', deployHelp)
    .action(async (options: DeployCommandOptions) => (await actions()).runDeploy(options))
  addRemoveOptions(addSubcommand(program, 'undeploy'))
    .description(
      'Delete what coxswain deploy applied, its CustomResourceDefinitions and their objects included.',
    )
    .addHelpText('after', undeployHelp)
    .action(async (options: RemoveCommandOptions) => (await actions()).runUndeploy(options))
  addApplyOptions(addSubcommand(program, 'install'))
    .description(
      'Apply the CustomResourceDefinitions of this folder (config/crd), and wait until they are served.',
    )
    .addHelpText('after', installHelp)
    .action(async (options: ApplyCommandOptions) => (await actions()).runInstall(options))
  addRemoveOptions(addSubcommand(program, 'uninstall'))
    .description(
      'Delete the CustomResourceDefinitions of this folder (config/crd), and with them all objects of their kinds.',
    )
    .addHelpText('after', uninstallHelp)
    .action(async (options: RemoveCommandOptions) => (await actions()).runUninstall(options))
  addApplyOptions(addSubcommand(program, 'apply'), { wait: false })
    .description(
      'Apply manifests server-side: namespaces first, then CustomResourceDefinitions, then the rest.',
    )
    .option('-f, --filename <file...>', 'files or folders with manifests; - for standard input')
    .option('-k, --kustomize <dir>', 'a folder with a kustomization')
    .option('-R, --recursive', 'read the folders in folders of -f too', false)
    .addHelpText('after', applyHelp)
    .action(async (options: ApplyCommandOptions) => (await actions()).runApply(options))
  addSubcommand(program, 'build-installer')
    .description(
      'Write all manifests of the project as one YAML file, for users who install it with kubectl.',
    )
    .addOption(imageOption())
    .option('-o, --output <file>', 'the file to write', 'dist/install.yaml')
    .addHelpText('after', installerHelp)
    .action(async (options: InstallerCommandOptions) => (await actions()).runBuildInstaller(options))
}

const imageOption = () =>
  new Option(
    '--image <ref>',
    'the image of the containers called manager (default: as config/ has it)',
  ).argParser(readText)

function addApplyOptions(command: Command, { wait = true }: { readonly wait?: boolean } = {}): Command {
  return addChangeOptions(command, { wait }).option(
    '--force-conflicts',
    'take over fields that other managers own',
    false,
  )
}

function addRemoveOptions(command: Command): Command {
  return addChangeOptions(command, { wait: true }).option(
    '-y, --yes',
    'do not ask before objects are lost',
    false,
  )
}

function addChangeOptions(command: Command, { wait }: { readonly wait: boolean }): Command {
  return command
    .option('--kubeconfig <file>', 'kubeconfig of the cluster (default: $KUBECONFIG, ~/.kube/config)')
    .option('--context <name>', 'the context to use')
    .addOption(
      new Option(
        '-n, --namespace <name>',
        "the namespace of objects that name none (default: the context's)",
      ).argParser(readText),
    )
    .addOption(
      new Option(
        '--dry-run <strategy>',
        'client: print what would be sent; server: let the server validate it, and store nothing',
      )
        .choices(['none', 'client', 'server'])
        .default('none'),
    )
    .addOption(
      new Option('--wait [bool]', 'wait until it is ready, or deleted')
        .argParser(readBoolean)
        .preset('true')
        .default(wait),
    )
    .addOption(new Option('--timeout <duration>', 'how long to wait').argParser(readDuration).default('5m'))
}

const deployHelp = `
config/default is built as kustomize does and applied server-side as the field manager coxswain: namespaces, then
CustomResourceDefinitions, which are waited for, then the rest. What an earlier deployment applied and this one does not have is
deleted, except CustomResourceDefinitions and Namespaces; a ConfigMap PROJECT-applyset in the operator's namespace records it, as
an ApplySet that kubectl understands. When a Deployment does not become ready, the reasons and the last events of its Pods are printed.

Examples:
  coxswain deploy --image registry.example.com/greeter:v1
  coxswain deploy --dry-run=server
  coxswain deploy --context staging --timeout 2m

Exit codes: 0 deployed and ready, 1 refused or not ready in time, 2 bad usage.`

const undeployHelp = `
CustomResourceDefinitions are deleted first, while the operator still runs and can remove its finalizers. It asks before custom
objects are lost; without a terminal that needs --yes.

Examples:
  coxswain undeploy
  coxswain undeploy --yes --timeout 1m

Exit codes: 0 deleted, 1 refused or not deleted in time, 2 bad usage.`

const installHelp = `
Examples:
  coxswain install && coxswain run

Exit codes: 0 applied and served, 1 refused or not served in time, 2 bad usage.`

const uninstallHelp = `
It asks before objects are lost; without a terminal that needs --yes.

Examples:
  coxswain uninstall
  coxswain uninstall --yes

Exit codes: 0 deleted, 1 refused or not deleted in time, 2 bad usage.`

const applyHelp = `
Nothing is pruned. Everything is read before anything is sent.

Examples:
  coxswain apply -k config/samples
  coxswain apply -f deploy.yaml -f crds/ --wait
  kustomize build overlays/prod | coxswain apply -f -

Exit codes: 0 applied, 1 refused, 2 bad usage.`

const installerHelp = `
The same objects as coxswain deploy applies. Bundles for the Operator Lifecycle Manager are not made.

Examples:
  coxswain build-installer --image registry.example.com/greeter:v1
  kubectl apply --server-side -f dist/install.yaml

Exit codes: 0 written, 1 failure, 2 bad usage.`
