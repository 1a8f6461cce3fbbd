import { type OracleName, oracleTexts, type TortureFaultName, tortureFaultNames } from '@coxswain/simulator'
import { type Command, InvalidArgumentError } from 'commander'
import { parseCount } from '../command-options.ts'
import { addSubcommand } from '../subcommand.ts'
import type { TortureCommandOptions } from './torture.ts'

/** The oracles that a process can be judged by. */
const oracles: readonly OracleName[] = [
  'same-end',
  'same-after-restart',
  'clean-deletion',
  'settles',
  'scenario',
]

export function addTorture(program: Command): void {
  addSubcommand(program, 'torture')
    .description('Run an operator in any language against a server that fails, and find what it gets wrong.')
    .argument(
      '<command...>',
      'what starts the operator, after --; {kubeconfig} is the path of its kubeconfig',
    )
    .requiredOption('--scenario <dir>', 'the folder with what users do, one file after the other')
    .option('--runs <n>', 'runs at most, the undisturbed ones included', parseCount, 100)
    .option('--seconds <n>', 'seconds at most (default: no limit)', parseCount)
    .option('--seed <n>', 'decides which faults are combined', parseCount, 1)
    .option(
      '--only <faults>',
      `faults to inject (default: all): ${tortureFaultNames.join(', ')}`,
      parseFaults,
    )
    .option('--without <oracles>', `what not to check: ${oracles.join(', ')}`, parseOracles)
    .option('--failures <n>', 'stop after this many failures that differ', parseCount, 1)
    .option('--quiet <ms>', 'without a write for this long, the operator has settled', parseCount, 1_000)
    .option('--patience <s>', 'how long the operator has to end where it should', parseCount, 30)
    .option('--json <file>', 'write the report to a file; - is standard output')
    .option('--replay <file>', 'repeat the run that an earlier failure has left in a file')
    .addHelpText('after', tortureHelp)
    .action(async (command: string[], options: TortureCommandOptions) => {
      const { runTorture } = await import('./torture.ts')
      await runTorture(command, options)
    })
}

function parseFaults(text: string): readonly TortureFaultName[] {
  return parseNames(text, tortureFaultNames)
}

function parseOracles(text: string): readonly OracleName[] {
  return parseNames(text, oracles)
}

function parseNames<T extends string>(text: string, known: readonly T[]): readonly T[] {
  return text.split(',').map(name => {
    const found = known.find(each => each === name)
    if (found === undefined) throw new InvalidArgumentError(`${name} is not one of ${known.join(', ')}.`)
    return found
  })
}

const tortureHelp = `
Each run has an API server of its own with all controllers and a simulated node, the operator as a process that is connected to it, and the
scenario: CustomResourceDefinitions are applied before the operator starts; then the files are applied in the order of their names, each after the
operator has come to rest; *.delete.yaml are deleted instead. In the end the objects of the scenario are deleted.

Two runs are undisturbed. Then every fault happens at every write and watch event of the operator, alone, and then in pairs: the process is
killed or stopped, requests and responses are lost, delivered twice or rejected, watches are cut, late, or lose events. Wherever a run ends
elsewhere than the undisturbed one, it is minimised, explained and left in a file for --replay.

${oracles.map(name => `  ${name.padEnd(20)}${oracleTexts[name]}`).join('\n')}

Examples:
  coxswain torture --scenario test/scenario -- ./manager --kubeconfig {kubeconfig}
  coxswain torture --scenario s --only crash,reject --runs 30 -- kopf run operator.py -A
  coxswain torture --scenario s --replay torture-3f9c12ab.json -- ./manager

Exit codes: 0 nothing found, 1 a failure found or the operator cannot be run, 2 bad usage.`
