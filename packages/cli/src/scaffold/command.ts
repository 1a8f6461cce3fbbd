import { type Command, Option } from 'commander'
import { readBoolean, readNamespaces, readText } from '../host/parsers.ts'
import { addSubcommand } from '../subcommand.ts'
import type {
  CreateApiOptions,
  CreateWebhookOptions,
  EditOptions,
  InitOptions,
  UpgradeOptions,
} from './options.ts'

/** Adds init, create, edit and upgrade. */
export function addScaffold(program: Command): void {
  addSubcommand(program, 'init')
    .description('Make this folder the project of an operator.')
    .addOption(
      new Option('--domain <domain>', 'the domain of its API groups, such as example.com').argParser(
        readText,
      ),
    )
    .addOption(
      new Option('--name <name>', "the name of the project (default: the folder's)").argParser(readText),
    )
    .addOption(booleanOption('--fetch-deps [bool]', 'run npm install'))
    .addOption(yesOption())
    .addHelpText('after', initHelp)
    .action(async (options: InitOptions) => (await import('./init.ts')).runInit(options))
  const create = addSubcommand(program, 'create').description(
    'Add a kind, webhooks or a kubectl plug-in to the project.',
  )
  addResourceOptions(addSubcommand(create, 'api'))
    .description('Add a kind with its controller and test, or another version of a kind.')
    .addOption(booleanOption('--namespaced [bool]', 'objects are in namespaces'))
    .addOption(booleanOption('--resource [bool]', 'add the kind, or the version'))
    .addOption(booleanOption('--controller [bool]', 'add a controller, unless the kind has one'))
    .addHelpText('after', apiHelp)
    .action(async (options: CreateApiOptions) => (await import('./create.ts')).runCreateApi(options))
  addResourceOptions(addSubcommand(create, 'webhook'))
    .description('Add webhooks for a kind.')
    .option('--defaulting', 'set defaults', false)
    .option('--validating', 'validate', false)
    .addOption(
      new Option('--programmatic-validation', "kubebuilder's name of --validating")
        .implies({ validating: true })
        .hideHelp(),
    )
    .option('--conversion', 'convert between the versions of the kind', false)
    .addOption(
      new Option('--spoke <versions>', 'the versions that are converted through --version').argParser(
        readVersions,
      ),
    )
    .addHelpText('after', webhookHelp)
    .action(async (options: CreateWebhookOptions) => (await import('./create.ts')).runCreateWebhook(options))
  addSubcommand(create, 'plugin')
    .description('Add a kubectl plug-in for the first kind of the project.')
    .argument('<name>', 'kubectl NAME runs it; _ is read as -')
    .addHelpText('after', pluginHelp)
    .action(async (name: string) => (await import('./create.ts')).runCreatePlugin(name))
  addSubcommand(program, 'edit')
    .description('Change settings of the project.')
    .addOption(
      new Option('--namespaces <names>', 'watch these namespaces only; rights become Roles there').argParser(
        readNamespaces,
      ),
    )
    .option('--cluster-wide', 'watch all namespaces', false)
    .addHelpText('after', editHelp)
    .action(async (options: EditOptions) => (await import('./edit.ts')).runEdit(options))
  addSubcommand(program, 'upgrade')
    .description('Merge what changed in the scaffold since the project was made into its files.')
    .option('--check', 'write nothing, and fail when a file would change', false)
    .addHelpText('after', upgradeHelp)
    .action(async (options: UpgradeOptions) => (await import('./upgrade.ts')).runUpgrade(options))
}

const yesOption = () => new Option('-y, --yes', 'ask nothing, and take the defaults').default(false)

const booleanOption = (flags: string, text: string) =>
  new Option(flags, text).argParser(readBoolean).preset('true').default(true)

function addResourceOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--group <group>', "the API group, without the project's domain").argParser(readText),
    )
    .addOption(new Option('--version <version>', 'the version, such as v1 or v1alpha1').argParser(readText))
    .addOption(new Option('--kind <kind>', 'the kind, such as Captain').argParser(readText))
    .addOption(booleanOption('--make [bool]', 'run coxswain manifests afterwards'))
    .addOption(yesOption())
}

const initHelp = `
In a terminal it asks for what is missing. A package.json that is there is completed; other files must not be there, except those
that begin with a dot. Nothing is written when something fails, apart from what npm install does.

Examples:
  coxswain init --domain example.com
  coxswain init --domain example.com --name greeter --fetch-deps=false

Exit codes: 0 written, 1 failure, 2 bad usage.`

const apiHelp = `
Writes api/KIND.ts, controllers/KIND.ts and a test, and adds the controller to operator.ts at the lines marked // +coxswain:scaffold.
For a kind that exists, another version is added to api/KIND.ts.

Examples:
  coxswain create api --group crew --version v1 --kind Captain
  coxswain create api --group crew --version v1 --kind Fleet --namespaced=false
  coxswain create api --group crew --version v2 --kind Captain --controller=false

Exit codes: 0 written, 1 failure, 2 bad usage.`

const webhookHelp = `
Writes webhooks/KIND.ts and a test, and adds them to operator.ts. --conversion adds conversions to api/KIND.ts, with --version as the hub.

Examples:
  coxswain create webhook --group crew --version v1 --kind Captain --defaulting --validating
  coxswain create webhook --group crew --version v1 --kind Captain --conversion --spoke v2

Exit codes: 0 written, 1 failure, 2 bad usage.`

const pluginHelp = `
Writes plugins/kubectl-NAME.ts, and names it in the "bin" of package.json.

Examples:
  coxswain create plugin captains
  npm link && kubectl captains

Exit codes: 0 written, 1 failure, 2 bad usage.`

const editHelp = `
Examples:
  coxswain edit --namespaces team-a,team-b
  coxswain edit --cluster-wide

Exit codes: 0 written, 1 failure, 2 bad usage.`

const upgradeHelp = `
.coxswain-scaffold.json holds the files as they were scaffolded. What you changed since and what the scaffold changed since are merged;
lines that both changed are written with conflict markers, as git does. Files that you deleted stay deleted. The diff is printed.

Examples:
  coxswain upgrade --check
  coxswain upgrade && npm install

Exit codes: 0 merged or up to date, 1 conflicts, or stale with --check, 2 bad usage.`

/** Names with commas between them; the option may be repeated. */
function readVersions(text: string, before: readonly string[] = []): string[] {
  return [...before, ...text.split(',').filter(version => version !== '')]
}
