import {
  type ControllerName,
  type ServerControllerName,
  type ServesResource,
  selectControllers as select,
  selectServerControllers as selectServer,
} from '@coxswain/controllers/names'
import { CommandError } from '../../exit.ts'

/** Reads `--controllers`: `*`, names, `-name`, or `none`. Throws a usage error for a name that does not exist or needs other kinds. */
export function selectControllers(
  list: readonly string[],
  serves: ServesResource,
): readonly ControllerName[] {
  return orUsageError(() => select(list, serves))
}

/** Reads the same list for the controllers that run inside the API server. */
export function selectServerControllers(list: readonly string[]): readonly ServerControllerName[] {
  return orUsageError(() => selectServer(list))
}

function orUsageError<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw new CommandError(`--controllers: ${(error as Error).message}`, { exitCode: 2 })
  }
}
