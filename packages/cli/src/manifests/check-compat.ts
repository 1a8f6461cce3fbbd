import type { CustomResourceDefinition } from '@coxswain/apimachinery/kinds'
import { compareAllDefinitions, formatFinding } from '@coxswain/project/compat'
import type { ReadDefinition } from '@coxswain/project/definitions'
import type { GeneratedFile } from '@coxswain/project/files'
import {
  type ClusterFlags,
  contextForServer,
  definitionsFromCluster,
} from '../definitions/cluster-definitions.ts'
import { definitionsFromPath, definitionsFromText } from '../definitions/definition-files.ts'
import { definitionsFromGit } from '../definitions/git-definitions.ts'
import { CommandError } from '../exit.ts'

/**
 * Reports on standard error how `definitions` differ from the old ones in a way that clients notice, and fails when one breaks them. `old`
 * is a file or folder, `git:REVISION:PATH`, `cluster` for that of the kubeconfig, or the address of a cluster in it.
 */
export async function checkCompat(
  definitions: readonly CustomResourceDefinition[],
  old: string,
  flags: ClusterFlags = {},
): Promise<void> {
  const findings = compareAllDefinitions(await oldDefinitions(old, definitions, flags), definitions)
  for (const finding of findings) process.stderr.write(`${formatFinding(finding)}\n`)
  const errors = findings.filter(({ severity }) => severity === 'error').length
  if (errors > 0)
    throw new CommandError(
      `${errors} ${errors === 1 ? 'change breaks' : 'changes break'} clients or stored objects, compared with ${old}`,
    )
}

async function oldDefinitions(
  old: string,
  definitions: readonly CustomResourceDefinition[],
  flags: ClusterFlags,
): Promise<readonly ReadDefinition[]> {
  if (old.startsWith('git:')) return definitionsFromGit(old)
  const isAddress = /^https?:\/\//.test(old)
  if (old !== 'cluster' && !isAddress) return definitionsFromPath(old)
  const context = isAddress ? await contextForServer(old, flags) : flags.context
  const all = await definitionsFromCluster({ ...flags, ...(context !== undefined && { context }) })
  // A cluster has the definitions of others, too; none of them was removed here.
  const names = new Set(definitions.map(({ metadata }) => metadata.name))
  return all.filter(({ metadata }) => names.has(metadata.name))
}

/** The CRDs among generated manifests. */
export function definitionsOf(generated: readonly GeneratedFile[]): ReadDefinition[] {
  return generated
    .filter(({ path }) => path.includes('/crd/bases/'))
    .flatMap(({ path, content }) => definitionsFromText(String(content), path))
}
