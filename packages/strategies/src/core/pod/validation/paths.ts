import * as field from '@coxswain/apimachinery/field'
import type { Findings } from '../../../shared/reading.ts'

/** No element of the path may be `..`. */
export function* validateNoBacksteps(target: string, path: field.Path): Findings {
  if (target.split('/').includes('..')) yield field.invalid(path, target, "must not contain '..'")
}

export function* validateDescendingPath(target: string, path: field.Path): Findings {
  if (target.startsWith('/')) yield field.invalid(path, target, 'must be a relative path')
  yield* validateNoBacksteps(target, path)
}

/** A relative path that stays below its root and does not begin with two dots. */
export function* validateLocalPath(target: string, path: field.Path): Findings {
  yield* validateDescendingPath(target, path)
  if (target.startsWith('..') && !target.startsWith('../'))
    yield field.invalid(path, target, "must not start with '..'")
}

const maxMode = 0o777

export function* validateFileMode(mode: unknown, path: field.Path): Findings {
  if (mode !== undefined && (Number(mode) > maxMode || Number(mode) < 0)) {
    yield field.invalid(path, mode, 'must be a number between 0 and 0777 (octal), both inclusive')
  }
}
