import * as field from '@coxswain/apimachinery/field'
import type { Findings } from '../../shared/reading.ts'
import type { CompiledExpression } from './compile.ts'

/** What is wrong with an expression; `source` is what the author wrote. */
export function* validateExpression(
  compiled: CompiledExpression,
  path: field.Path,
  source: string = compiled.source,
): Findings {
  if (compiled.ok) return
  const { error } = compiled
  yield error.startsWith('program instantiation failed')
    ? field.internalError(path, error)
    : field.invalid(path, source, error)
}
