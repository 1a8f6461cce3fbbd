import type { MutatingAdmissionPolicy, Mutation } from '@coxswain/api/admissionregistration/v1'
import * as field from '@coxswain/apimachinery/field'
import type { Decoded } from '../decoded.ts'
import { defineStrategy } from '../define-strategy.ts'
import { ageCell, countCell, nameCell } from '../shared/cells.ts'
import type { Findings } from '../shared/reading.ts'
import type { Strategy } from '../strategy.ts'
import { compileAdmissionExpression, type ExpressionOptions } from './expressions/compile.ts'
import { validateExpression } from './expressions/validate.ts'
import {
  isBlank,
  policyStrategy,
  printParamKind,
  scopeOf,
  validateConditionsOf,
  validateSubject,
  validateVariables,
} from './policy.ts'
import { reinvocationPolicies, validateMutatingOperations } from './rules.ts'

const patchTypes = ['ApplyConfiguration', 'JSONPatch']

export const mutatingAdmissionPolicyStrategy: Strategy = defineStrategy<MutatingAdmissionPolicy>({
  ...policyStrategy,
  validate: (object, _context, old) => validateMutatingPolicy(object, old),
  cells: (object, now) => {
    const { mutations, paramKind } = object.spec ?? {}
    return {
      Name: nameCell(object),
      Mutations: countCell(mutations),
      ParamKind: printParamKind(paramKind),
      Age: ageCell(object, now),
    }
  },
})

function* validateMutatingPolicy(
  object: Decoded<MutatingAdmissionPolicy>,
  old: Decoded<MutatingAdmissionPolicy> | undefined,
): Findings {
  const spec = object.spec ?? {}
  const path = field.Path.of('spec')
  yield* validateSubject(spec, path)
  yield* validateMutatingOperations(spec.matchConstraints, path.child('matchConstraints'))
  yield* validateConditionsOf(spec, old, path)
  const scope = scopeOf(spec, true)
  yield* validateVariables(spec.variables, scope, path.child('variables'))
  const mutations = spec.mutations ?? []
  if (mutations.length === 0)
    yield field.required(path.child('mutations'), 'mutations must contain at least one item')
  for (const [index, mutation] of mutations.entries())
    yield* validateMutation(mutation, scope, path.child('mutations').index(index))
  const policy = spec.reinvocationPolicy ?? ''
  if (policy === '') yield field.required(path.child('reinvocationPolicy'))
  else if (!reinvocationPolicies.includes(policy))
    yield field.notSupported(path.child('reinvocationPolicy'), policy, reinvocationPolicies)
}

const patchMembers = { JSONPatch: 'jsonPatch', ApplyConfiguration: 'applyConfiguration' } as const

/** The patch of the type that is named is there, and the other one is not. */
function* validateMutation(
  mutation: Decoded<Mutation>,
  scope: ExpressionOptions,
  path: field.Path,
): Findings {
  const type = mutation.patchType ?? ''
  if (type === '') {
    yield field.required(path.child('patchType'))
    return
  }
  if (type !== 'JSONPatch' && type !== 'ApplyConfiguration') {
    yield field.notSupported(path.child('patchType'), type, patchTypes)
    return
  }
  const wanted = patchMembers[type]
  const other = wanted === 'jsonPatch' ? 'applyConfiguration' : 'jsonPatch'
  const patch = mutation[wanted]
  if (!patch) yield field.required(path.child(wanted), `must be specified when patchType is ${type}`)
  else if (isBlank(patch.expression)) yield field.required(path.child(wanted, 'expression'))
  else {
    const expression = (patch.expression ?? '').trim()
    const compiled = compileAdmissionExpression(expression, wanted, { ...scope, patchTypes: true })
    yield* validateExpression(compiled, path.child(wanted, 'expression'))
  }
  if (mutation[other])
    yield field.invalid(path.child(other), `{${other}}`, `must not be specified when patchType is ${type}`)
}
