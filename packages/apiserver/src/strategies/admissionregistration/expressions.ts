import { field } from '@coxswain/apimachinery'
import type { CompiledExpression } from '../../admission/expressions/compile.ts'
import type { Findings } from '../pod/validation/reading.ts'

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
