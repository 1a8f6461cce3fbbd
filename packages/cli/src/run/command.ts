import type { Command } from 'commander'
import { configOption } from '../command-options.ts'
import { addSettings, runSettings } from '../host/settings.ts'
import { isChild } from '../parent.ts'
import { addSubcommand } from '../subcommand.ts'

/** Adds `coxswain run`. */
export function addRun(program: Command): void {
  addSettings(addSubcommand(program, 'run'), runSettings)
    .description('Run operators against the cluster of the current kubeconfig.')
    .argument('[file...]', 'TypeScript or JavaScript files whose default export is an operator')
    .option('--webhook-cert-dir <dir>', 'the older name of --webhook-cert-path')
    .addOption(configOption())
    .addHelpText('after', runHelp)
    .option('--watch', 'restart in a new process whenever a file of the operators is saved', false)
    .action(async (files: string[], { watch }, run: Command) => {
      if (watch && !isChild()) return await (await import('./watch.ts')).runWatch(files)
      const { runRun } = await import('./run.ts')
      if (!watch) return await runRun(files, run)
      const { waitForTurn } = await import('./watch-child.ts')
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
