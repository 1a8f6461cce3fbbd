import { type Command, Option } from 'commander'
import { addSubcommand } from '../subcommand.ts'
import type { BuildCommandOptions } from './options.ts'

/** Adds `coxswain kustomize`. */
export function addKustomize(program: Command): void {
  const kustomize = addSubcommand(program, 'kustomize')
    .summary('Build kustomizations, as kustomize 5.8 does.')
    .description('Builds kustomizations as kustomize 5.8 does, without it.')
  addSubcommand(kustomize, 'build')
    .summary('print the objects of a kustomization')
    .description(
      'Builds the kustomization in a folder and prints its objects as YAML, byte for byte as kustomize 5.8 prints them. Helm charts, remote resources and plug-ins that are not built in are rejected.',
    )
    .argument('[folder]', 'folder with a kustomization.yaml', '.')
    .option('-o, --output <file>', 'write to this file instead of standard output')
    .addOption(
      new Option('--load-restrictor <restrictor>', 'whether files outside the folder may be read')
        .choices(['LoadRestrictionsRootOnly', 'LoadRestrictionsNone'])
        .default('LoadRestrictionsRootOnly'),
    )
    .addHelpText(
      'after',
      `
Examples:
  coxswain kustomize build config/default
  coxswain kustomize build config/default | kubectl apply -f -
  coxswain kustomize build overlays/prod --output dist/install.yaml`,
    )
    .action(async (folder: string, options: BuildCommandOptions) => {
      const { build } = await import('./build.ts')
      build(folder, options)
    })
}
