import type { ServesResource } from '@coxswain/controllers/names'
import { CommandError } from '../../exit.ts'

/** The served built-in kinds. */
export interface ServedKinds {
  /** By name with group; undefined for all. */
  readonly resources: readonly string[] | undefined
  readonly serves: ServesResource
}

/** Reads `--kinds`. The tables of kinds are loaded only if not all are served. Throws a usage error for an unknown kind. */
export async function loadServedKinds(kinds: readonly string[]): Promise<ServedKinds> {
  if (kinds.includes('all')) return { resources: undefined, serves: () => true }
  const { resourceName, selectResources } = await import('@coxswain/api')
  try {
    const served = new Set(selectResources(kinds).map(resourceName))
    return { resources: [...served], serves: resource => served.has(resource) }
  } catch (error) {
    throw new CommandError(`--kinds: ${(error as Error).message}`, { exitCode: 2 })
  }
}

/** Whether Pods are scheduled and run. */
export function runsPods({ serves }: Pick<ServedKinds, 'serves'>): boolean {
  return serves('pods') && serves('nodes')
}
