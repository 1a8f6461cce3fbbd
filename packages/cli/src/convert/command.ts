import type { Command } from 'commander'
import { configOption } from '../command-options.ts'
import { addSubcommand } from '../subcommand.ts'
import type { ConvertCommandOptions } from './convert-objects.ts'

export function addConvert(program: Command): void {
  addSubcommand(program, 'convert')
    .description(
      'Convert objects to another version of their kind, or v1beta1 CustomResourceDefinitions to v1.',
    )
    .argument('<file...>', 'YAML or JSON with any number of documents; - for standard input')
    .option('--to <version>', 'convert objects of the given kinds to this version: v1, or example.com/v1')
    .option(
      '--kinds <file...>',
      'modules that export the kinds (default: those of coxswain.config.ts, or operator.ts)',
    )
    .addOption(configOption())
    .addHelpText('after', convertHelp)
    .action(async (files: string[], options: ConvertCommandOptions) => {
      if (options.to === undefined) {
        const { runConvert } = await import('./convert.ts')
        return runConvert(files)
      }
      const { convertObjects } = await import('./convert-objects.ts')
      await convertObjects(files, { ...options, to: options.to })
    })
}

const convertHelp = `
Without --to, writes all documents to standard output: v1beta1 CustomResourceDefinitions as apiextensions.k8s.io/v1, the others as they
are. Comments are kept; those whose field was removed move to the top of their document. Guesses are reported on standard error.

  spec.version, spec.versions           spec.versions
  spec.validation                       schema of each version; without one, any value is accepted
  spec.subresources                     subresources of each version
  spec.additionalPrinterColumns         additionalPrinterColumns of each version; JSONPath is jsonPath
  spec.preserveUnknownFields            x-kubernetes-preserve-unknown-fields in the schemas, unless it was false
  spec.conversion.webhookClientConfig   spec.conversion.webhook.clientConfig

With --to, objects of the kinds that the files of --kinds export are converted by the conversions of their definitions, as a server does
through the operator's webhook. No cluster is needed. Objects of other kinds stay as they are; comments of converted objects are lost.

Examples:
  coxswain convert crd.yaml > crd-v1.yaml
  coxswain convert crd.yaml | kubectl apply -f -
  coxswain convert at.yaml --to v1 --kinds api/at.ts

Exit codes: 0 written, 1 a file could not be read or an object converted, 2 bad usage.`
