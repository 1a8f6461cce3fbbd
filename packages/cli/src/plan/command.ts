import { type Command, CommanderError } from 'commander'
import { configOption } from '../command-options.ts'
import { failureCode } from '../exit.ts'
import { addSubcommand } from '../subcommand.ts'
import { checkDuration } from '../up/options/authentication-options.ts'
import type { PlanCommandOptions } from './plan.ts'

export function addPlan(program: Command): void {
  addSubcommand(program, 'plan')
    .description('Show what operators would do to a cluster after a change, without changing it.')
    .argument(
      '[file...]',
      'modules whose default export is an operator (default: those of coxswain.config.ts, or operator.ts)',
    )
    .option(
      '-f, --filename <path...>',
      'the change: manifests to apply, files or folders; - is standard input (default: none, what the operators do to the cluster as it is)',
    )
    .option('--delete', 'delete the objects of the manifests instead of applying them', false)
    .option('--kubeconfig <file>', 'kubeconfig of the cluster (default: $KUBECONFIG, ~/.kube/config)')
    .option('--context <name>', 'the context to use')
    .option('-n, --namespace <name>', "the namespace of objects that name none (default: the context's)")
    .option('--for <duration>', 'how far to look ahead on the virtual clock', checkDuration, '1h0m0s')
    .option('--json', 'print the plan as JSON', false)
    .addOption(configOption())
    .exitOverride(error => {
      if (error.exitCode === 0) throw error
      throw new CommanderError(1, failureCode, error.message)
    })
    .addHelpText('after', planHelp)
    .action(async (files: string[], options: PlanCommandOptions) => {
      const { runPlan } = await import('./plan.ts')
      await runPlan(files, options)
    })
}

const planHelp = `
Reads the objects of the kinds that the operators watch, with your rights, and nothing else: the cluster is not written to. Then it starts
an API server of its own in this process with these objects, controllers and one simulated node on a virtual clock, applies the change there,
runs the operators for as long as --for says, and prints what they created, changed and deleted, in order, with the time at which they did and
the line of their source.

What the operators would fetch from other services, or send to them, is listed and not sent: stand-ins answer.

Examples:
  coxswain plan operator.ts -f change.yaml
  coxswain plan -f sample.yaml --delete            what deleting it would do
  coxswain plan operator.ts --context staging      what this version of the operator would do to the cluster as it is
  coxswain plan -f change.yaml --json | jq '.writes[].name'

Exit codes: 0 the operators would do nothing, 2 they would change something, 1 failure or bad usage.`
