import type { CallExpr, Expr } from './ast.ts'
import type { Problem } from './checker.ts'
import { clauses } from './libraries/string-format-legacy.ts'
import { compileRegex } from './regex.ts'
import { parseDuration, parseTimestamp } from './time.ts'
import { type CelType, formatType } from './types.ts'
import { isExactType } from './unify.ts'
import { EvalFault } from './values.ts'

/** What Kubernetes checks in a well-typed expression: literals of durations, times, patterns and formats, and mixed lists and maps. */
export function validate(expr: Expr): Problem[] {
  const problems: Problem[] = []
  visit(expr, false, problems)
  return problems.sort((a, b) => a.offset - b.offset)
}

function visit(expr: Expr, isExempt: boolean, problems: Problem[]): void {
  switch (expr.kind) {
    case 'call':
      checkCall(expr, problems)
      if (expr.target !== undefined) visit(expr.target, isExempt, problems)
      for (const arg of expr.args) visit(arg, isExempt || expr.fn === 'format', problems)
      return
    case 'select':
      visit(expr.operand, isExempt, problems)
      return
    case 'list':
      if (!isExempt)
        sameTypes(
          expr.elements.map((e, i) => ({ expr: e, optional: expr.optional.has(i) })),
          problems,
        )
      for (const element of expr.elements) visit(element, isExempt, problems)
      return
    case 'map':
      if (!isExempt) {
        sameTypes(
          expr.entries.map(e => ({ expr: e.key, optional: false })),
          problems,
        )
        sameTypes(
          expr.entries.map(e => ({ expr: e.value, optional: e.optional })),
          problems,
        )
      }
      for (const { key, value } of expr.entries)
        for (const part of [key, value]) visit(part, isExempt, problems)
      return
    case 'struct':
      for (const field of expr.fields) visit(field.value, isExempt, problems)
      return
    case 'comprehension':
      for (const part of [expr.range, expr.init, expr.condition, expr.step, expr.result])
        visit(part, isExempt, problems)
  }
}

function sameTypes(parts: readonly { expr: Expr; optional: boolean }[], problems: Problem[]): void {
  let first: CelType | undefined
  for (const { expr, optional } of parts) {
    const type = (optional ? expr.type?.params[0] : expr.type) as CelType
    if (first === undefined) first = type
    else if (!isExactType(first, type)) {
      problems.push({
        offset: expr.offset,
        message: `expected type '${formatType(first)}' but found '${formatType(type)}'`,
      })
      return
    }
  }
}

const literalChecks: Readonly<Record<string, (text: string) => boolean>> = {
  __proto__: null as never,
  duration: text => parseDuration(text) !== undefined,
  timestamp: text => parseTimestamp(text) !== undefined,
  matches: isRegex,
}

function isRegex(pattern: string): boolean {
  try {
    compileRegex(pattern)
    return true
  } catch (error) {
    if (error instanceof EvalFault) return false
    throw error
  }
}

function checkCall(expr: CallExpr, problems: Problem[]): void {
  const arg = expr.args.at(-1)
  const check = literalChecks[expr.fn]
  if (check !== undefined && arg?.kind === 'const' && typeof arg.value === 'string' && !check(arg.value)) {
    problems.push({ offset: arg.offset, message: `invalid ${expr.fn} argument` })
  }
  if (
    expr.fn === 'format' &&
    expr.target?.kind === 'const' &&
    typeof expr.target.value === 'string' &&
    arg?.kind === 'list'
  ) {
    checkFormat(expr, expr.target.value, arg.elements, problems)
  }
}

function checkFormat(expr: CallExpr, template: string, args: readonly Expr[], problems: Problem[]): void {
  let used = 0
  for (const found of template.matchAll(/%(?:%|(?:\.\d+)?([a-zA-Z])|[\s\S]?)/g)) {
    const verb = found[1]
    if (found[0] === '%%') continue
    const arg = args[used++]
    if (arg === undefined) {
      problems.push({ offset: expr.offset, message: `index ${used - 1} out of range` })
      return
    }
    const clause = verb === undefined ? undefined : clauses[verb.toLowerCase() === 'x' ? 'x' : verb]
    if (clause === undefined) {
      const message = `could not parse formatting clause: unrecognized formatting clause "${verb ?? found[0].slice(1)}"`
      problems.push({ offset: expr.offset, message })
      return
    }
    const kind = arg.type?.kind ?? 'dyn'
    if (kind !== 'dyn' && !clause.kinds.includes(kind)) {
      const message = `error during formatting: ${clause.text}, was given ${formatType(arg.type as CelType)}`
      problems.push({ offset: arg.offset, message })
      return
    }
  }
  if (args.length > used) {
    const message = `too many arguments supplied to string.format (expected ${used}, got ${args.length})`
    problems.push({ offset: expr.offset, message })
  }
}
