import type { Command } from 'commander'
import { addSubcommand } from '../subcommand.ts'

/** `coxswain types`. */
export function addTypes(program: Command): void {
  addSubcommand(program, 'types')
    .description('Write TypeScript types and kinds for the CustomResourceDefinitions of other projects.')
    .argument(
      '<source...>',
      'a file or folder of manifests, - for standard input, an API group of the cluster, or the address of a cluster in the kubeconfig',
    )
    .option('--out <dir>', 'where to write one file for each API group', 'types')
    .option('--check', 'write nothing; fail when a file is missing or stale')
    .option('--kubeconfig <file>', 'kubeconfig of the cluster (default: $KUBECONFIG, ~/.kube/config)')
    .option('--context <name>', 'the context to use')
    .addHelpText('after', typesHelp)
    .action(async (sources: string[], options) => {
      const { runTypes } = await import('./types.ts')
      await runTypes(sources, options)
    })
}

const typesHelp = `
Each file has, for every kind of the group, the types for reading, creating and applying, the CRD as a value, and a handle for each
version: CertificateV1, and Certificate for the version that kubectl prefers. Clients, controllers and informers take them like
built-in kinds; toCustomResourceDefinition(Certificate) returns the CRD, for a test cluster. v1beta1 CRDs are converted first.

Examples:
  coxswain types cert-manager.crds.yaml              types/cert-manager.io.ts, types/acme.cert-manager.io.ts
  coxswain types cert-manager.io                     the group as the cluster of the kubeconfig has it
  coxswain types https://127.0.0.1:6443 --out api    every CRD of that cluster
  helm template cert-manager | coxswain types -
  coxswain types crds/ --check                       in CI: fails when the files are stale

  import { Certificate } from './types/cert-manager.io.ts'
  const certificate = await client.get(Certificate, { namespace: 'default', name: 'www' })

Exit codes: 0 written or up to date, 1 a source cannot be read or a file is stale, 2 bad usage.`
