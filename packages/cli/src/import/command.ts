import type { Command } from 'commander'
import { addSubcommand } from '../subcommand.ts'

/** `coxswain import`. */
export function addImport(program: Command): void {
  const group = addSubcommand(program, 'import').description(
    'Turn a project of another framework into one of this.',
  )
  addSubcommand(group, 'kubebuilder')
    .description(
      'Write the TypeScript twin of a Go project of kubebuilder: kinds, controllers, webhooks and rights.',
    )
    .argument('<dir>', 'the folder of the Go project')
    .option('--out <dir>', 'where to write; files that exist are never overwritten', '.')
    .addHelpText('after', importHelp)
    .action(async (folder: string, options) => {
      const { runImportKubebuilder } = await import('./import-kubebuilder.ts')
      runImportKubebuilder(folder, options)
    })
}

const importHelp = `
Reads PROJECT, config/crd/bases (run make manifests first), config/rbac/role.yaml and the Owns(...) of internal/controller, and writes

  PROJECT, package.json, coxswain.config.ts, operator.ts
  api/KIND.ts            the kind as a defineKind source; the CRD it generates says what the given one says
  controllers/KIND.ts    for, owns and rights; reconcile is yours to write
  webhooks/KIND.ts       stubs that throw until you write them

Example:
  coxswain import kubebuilder ../guestbook --out guestbook-ts

Exit codes: 0 written, 1 a file cannot be read or exists already, 2 bad usage.`
