import type { Command } from 'commander'
import { Argument } from 'commander'
import { addSubcommand } from '../subcommand.ts'

/** Adds completion. */
export function addCompletion(program: Command): void {
  addSubcommand(program, 'completion')
    .description('Print a script that completes commands, flags and names in a shell.')
    .addArgument(new Argument('<shell>', 'the shell').choices(['bash', 'zsh', 'fish']))
    .addHelpText('after', completionHelp)
    .action(async (shell: 'bash' | 'zsh' | 'fish') => {
      const { completionScripts } = await import('./scripts.ts')
      process.stdout.write(completionScripts[shell])
    })
}

const completionHelp = `
Contexts are those of the kubeconfig, namespaces those of the cluster (within a second), groups, versions and kinds those of PROJECT.
kubectl completes kubectl coxswain ... by itself where kubectl_complete-coxswain is in PATH: the package brings it along.

Examples:
  source <(coxswain completion bash)
  coxswain completion zsh > "\${fpath[1]}/_coxswain"
  coxswain completion fish > ~/.config/fish/completions/coxswain.fish

Exit codes: 0 printed, 2 bad usage.`
