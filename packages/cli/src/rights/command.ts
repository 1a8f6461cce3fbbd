import type { Command } from 'commander'
import { configOption } from '../command-options.ts'
import { addSubcommand } from '../subcommand.ts'
import type { RightsCommandOptions } from './rights.ts'

export function addRights(program: Command): void {
  addSubcommand(program, 'rights')
    .description('Run the tests of operators and record the rights that they use in rbac.lock.json.')
    .argument('<command...>', 'what runs the tests, after --')
    .option('--check', 'write nothing, and fail when rbac.lock.json is not what the tests use', false)
    .addOption(configOption())
    .addHelpText('after', rightsHelp)
    .action(async (command: string[], options: RightsCommandOptions) => {
      const { runRights } = await import('./rights.ts')
      await runRights(command, options)
    })
}

const rightsHelp = `
Every operator that a test starts with cluster.start(operator), and every simulated one, is recorded: verb, group, resource, subresource,
namespace and name, as the API server authorized it. The result is rbac.lock.json beside package.json; commit it. A right is restricted to a
namespace or a name only where that is a constant in the operator's source.

From then on the same tests run with exactly these rights: a call beyond them is answered 403, and the test fails and names the source line.
coxswain manifests makes roles from the file. Declared rights that no test uses are listed; remove them, or test what needs them.

Examples:
  coxswain rights -- npm test
  coxswain rights --check -- npm test          in CI: exit code 1 when rbac.lock.json grants more or less than the tests use

Exit codes: 0 written or up to date, 1 failure, failed tests or a stale file, 2 bad usage.`
