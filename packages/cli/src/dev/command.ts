import { type Command, Option } from 'commander'
import { configOption, dataDirOption, nodesOption, portOption, runtimeOption } from '../command-options.ts'
import { addSettings, devSettings } from '../host/settings.ts'
import { isChild } from '../parent.ts'
import { addSubcommand } from '../subcommand.ts'

/** Adds `coxswain dev`. */
export function addDev(program: Command): void {
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
      if (isChild()) return await (await import('./dev-operators.ts')).runDevOperators(files, dev)
      await (await import('./dev.ts')).runDev(files, options)
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
