import { type Command, InvalidArgumentError, Option } from 'commander'
import { readDuration } from '../host/parsers.ts'
import { addSubcommand } from '../subcommand.ts'

/** Adds `coxswain kubeconfig`. */
export function addKubeconfig(program: Command): void {
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
      ).argParser(readDuration),
    )
    .option(
      '--kubeconfig <file>',
      'kubeconfig of a user who may approve requests (default: $KUBECONFIG, ~/.kube/config)',
    )
    .option('--context <name>', 'the context to use')
    .option('--output <file>', 'where to write the kubeconfig (default: standard output)')
    .addHelpText('after', kubeconfigHelp)
    .action(async options => {
      const { runKubeconfig } = await import('./kubeconfig.ts')
      await runKubeconfig(options)
    })
}

const kubeconfigHelp = `
The user may do nothing until a binding says otherwise.

Examples:
  coxswain kubeconfig --user jane --group devs > jane.kubeconfig
  kubectl create rolebinding devs-edit --clusterrole edit --group devs

Exit codes: 0 issued, 1 denied or not signed in time, 2 bad usage.`

function parseName(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('must not be empty.')
  return text
}
