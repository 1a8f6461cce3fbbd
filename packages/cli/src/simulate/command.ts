import { type Command, InvalidArgumentError, Option } from 'commander'
import { parseCount } from '../command-options.ts'
import { addSubcommand } from '../subcommand.ts'
import type { SimulateCommandOptions } from './simulate.ts'

/** `coxswain simulate`. */
export function addSimulate(program: Command): void {
  addSubcommand(program, 'simulate')
    .description(
      'Break an operator before production does: run it in a simulated cluster with every fault, and explain what it gets wrong.',
    )
    .argument('<file>', 'the module whose default export is the operator')
    .option(
      '--scenario <file>',
      'a module whose default export is what users do: async ({ client, clock, settle }) => ... (default: scenarios made from the kinds)',
    )
    .option('--runs <n>', 'how many runs to search (default: 500)', parseCount)
    .addOption(
      new Option('--seconds <n>', 'how long to search, instead of a number of runs')
        .conflicts('runs')
        .argParser(parseCount),
    )
    .option('--seed <n>', 'what decides chance: two simulations of one seed are identical', parseCount, 1)
    .option('--replay <file>', 'perform the run of such a file again, and compare it byte for byte')
    .option('--trace <file>', 'write everything that happened in the failed run as JSON')
    .option('--json <file>', 'write the report as JSON')
    .option('--only <list>', 'FAULT,...: inject only these', parseNames)
    .option('--without <list>', 'ORACLE,...: leave these out', parseNames)
    .option(
      '--service <host=file>',
      'a module whose default export answers requests to a host outside of the cluster; repeatable (default: a REST store)',
      collectServices,
    )
    .addHelpText('after', simulateHelp)
    .action(async (file: string, options: SimulateCommandOptions) => {
      const { runSimulate } = await import('./simulate.ts')
      await runSimulate(file, options)
    })
}

function parseNames(text: string): readonly string[] {
  const names = text.split(',').map(name => name.trim())
  if (names.includes('')) throw new InvalidArgumentError('must be NAME,NAME,...')
  return names
}

function collectServices(text: string, earlier: readonly string[] = []): readonly string[] {
  if (!/^[^=]+=.+$/.test(text)) throw new InvalidArgumentError('must be HOST=FILE')
  return [...earlier, text]
}

const simulateHelp = `
Without --scenario, users create, change, delete and recreate objects of the operator's kinds, with values from their schemas and
from sample.yaml or config/samples/ beside the file. Each scenario is first run undisturbed, then with every single fault at every
write, read, watch event and call, then with several. docs/simulator.md lists the faults and the oracles.

A failure is printed with the line that replays it; the file for it is written to the current directory.

Examples:
  coxswain simulate operator.ts
  coxswain simulate operator.ts --seconds 60 --seed 7
  coxswain simulate operator.ts --scenario scenario.ts --only crash,lose-response
  coxswain simulate operator.ts --service api.example.com=stand-in.ts
  coxswain simulate operator.ts --replay cnat-3f9c01ab.json

Exit codes: 0 nothing found, 1 a failure was found and explained, 2 bad usage.`
