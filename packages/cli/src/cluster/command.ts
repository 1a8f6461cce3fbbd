import { type Command, Option } from 'commander'
import { addSubcommand } from '../subcommand.ts'

/** Adds `coxswain cluster`. */
export function addCluster(program: Command): void {
  const group = addSubcommand(program, 'cluster')
    .description('Clusters in the background, each with a name, a log and a context in your kubeconfig.')
    .addHelpText('after', clusterHelp)
  const withKubeconfig = (command: Command) =>
    command.addOption(
      new Option(
        '--kubeconfig <file>',
        'the kubeconfig that has the contexts (default: the first of $KUBECONFIG, ~/.kube/config)',
      ),
    )
  const load = () => import('./clusters.ts')
  withKubeconfig(addSubcommand(group, 'create'))
    .description('Start a cluster, and make its context the current one.')
    .argument('[name]', 'its name; the context is coxswain-NAME', 'default')
    .argument('[flag...]', 'flags of coxswain up, after --')
    .action(async (name: string, flags: string[], options) => (await load()).runCreate(name, flags, options))
  addSubcommand(group, 'list')
    .description('List the clusters.')
    .action(async () => (await load()).runList())
  withKubeconfig(addSubcommand(group, 'delete'))
    .description('Stop a cluster, and remove its files and its context.')
    .argument('[name]', 'its name', 'default')
    .action(async (name: string, options) => (await load()).runDelete(name, options))
  addSubcommand(group, 'save')
    .description('Copy the objects of a cluster, which goes on running, to a file.')
    .argument('<name>', 'the cluster')
    .argument('<file>', 'the file to write')
    .action(async (name: string, file: string) => (await load()).runSave(name, file))
  addSubcommand(group, 'restore')
    .description('Make the objects of a cluster those of a saved file; watches see the differences.')
    .argument('<name>', 'the cluster')
    .argument('<file>', 'a file written by save')
    .action(async (name: string, file: string) => (await load()).runRestoreInto(name, file))
  withKubeconfig(addSubcommand(group, 'fork'))
    .description('Start another cluster with the objects that a cluster has now.')
    .argument('<name>', 'the cluster to copy')
    .argument('<new-name>', 'the name of the copy')
    .action(async (name: string, copy: string, options) => (await load()).runFork(name, copy, options))
}

const clusterHelp = `
Clusters are kept in $COXSWAIN_CLUSTERS (default: ~/.local/share/coxswain/clusters), a folder each: data, kubeconfig, log. Their stores do not wait for
the disk.

Examples:
  coxswain cluster create dev -- --nodes=3
  kubectl --context coxswain-dev get nodes
  coxswain cluster save dev prepared.db
  coxswain cluster fork dev test-1
  coxswain cluster delete dev

Exit codes: 0 done, 1 failure, 2 bad usage.`
