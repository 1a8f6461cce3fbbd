import { InvalidArgumentError, Option } from 'commander'
import { readPort } from './host/parsers.ts'

/** The options that several commands have. */

export const portOption = (): Option =>
  new Option('--port <n>', 'port to serve on; 0 picks a free one').default(6443).argParser(readPort)

export const dataDirOption = (): Option =>
  new Option('--data-dir <dir>', 'certificates, kubeconfig and stored objects').default('.coxswain')

export const nodesOption = (): Option =>
  new Option('--nodes <n>', 'how many nodes there are').default(1).argParser(parseCount)

export const runtimeOption = (): Option =>
  new Option(
    '--runtime <kind>',
    'how containers run: not at all (simulated), or as processes of this machine with your privileges',
  )
    .choices(['simulated', 'process'])
    .default('simulated')

export const configOption = (): Option =>
  new Option(
    '--config <file>',
    'configuration file (default: coxswain.config.ts, .js or .mjs of the working directory)',
  ).env('COXSWAIN_CONFIG')

export function parseCount(text: string): number {
  if (!/^\d+$/.test(text) || Number(text) > 10_000)
    throw new InvalidArgumentError('a number from 0 to 10000 is needed.')
  return Number(text)
}
