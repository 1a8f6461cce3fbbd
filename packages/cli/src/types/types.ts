import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { ReadDefinition } from '@coxswain/project/definitions'
import { isProjectError } from '@coxswain/project/files'
import { compareFiles, writeFiles } from '@coxswain/project/node'
import { generateTypes } from '@coxswain/project/types'
import {
  type ClusterFlags,
  contextForServer,
  definitionsFromCluster,
} from '../definitions/cluster-definitions.ts'
import { definitionsFromPath } from '../definitions/definition-files.ts'
import { CommandError } from '../exit.ts'

export interface TypesCommandOptions extends ClusterFlags {
  readonly out: string
  readonly check?: boolean
}

/** Writes the files of all API groups in the sources, or compares them with what is there. */
export async function runTypes(sources: readonly string[], options: TypesCommandOptions): Promise<void> {
  const { out } = options
  const definitions: ReadDefinition[] = []
  for (const source of sources) {
    for (const crd of await definitionsOf(source, options)) definitions.push(crd)
  }
  const files = attempt(() => generateTypes(definitions))
  if (options.check === true) {
    const stale = compareFiles(out, files)
    if (stale.length === 0) return
    const list = stale.map(({ path, state }) => `${join(out, path)} is ${state}`).join(', ')
    throw new CommandError(`${list}; run: coxswain types ${[...sources, '--out', out].join(' ')}`)
  }
  attempt(() => writeFiles(out, files))
  for (const { path } of files) process.stdout.write(`${join(out, path)}\n`)
}

function attempt<T>(action: () => T): T {
  try {
    return action()
  } catch (error) {
    if (isProjectError(error)) throw new CommandError(error.message, { cause: error })
    throw error
  }
}

/** A path that exists is a path; an address is a cluster; anything else that looks like an API group is one of the cluster's. */
async function definitionsOf(source: string, flags: ClusterFlags): Promise<readonly ReadDefinition[]> {
  if (source === '-' || existsSync(source))
    return some(definitionsFromPath(source), source === '-' ? 'standard input' : source)
  if (/^https?:\/\//.test(source)) {
    const context = await contextForServer(source, flags)
    return some(await definitionsFromCluster({ ...flags, context }), source)
  }
  if (!/^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/.test(source) || /\.(?:ya?ml|json)$/.test(source))
    throw new CommandError(`${source} does not exist, and is not an API group such as cert-manager.io`)
  const all = await definitionsFromCluster(flags)
  const found = all.filter(({ spec }) => spec.group === source)
  if (found.length > 0) return found
  const groups = [...new Set(all.map(({ spec }) => spec.group))].sort()
  throw new CommandError(
    `the cluster has no CustomResourceDefinition of the group ${source}; it has ${groups.length === 0 ? 'none at all' : groups.join(', ')}`,
  )
}

function some(found: readonly ReadDefinition[], source: string): readonly ReadDefinition[] {
  if (found.length === 0) throw new CommandError(`${source}: there is no CustomResourceDefinition`)
  return found
}
