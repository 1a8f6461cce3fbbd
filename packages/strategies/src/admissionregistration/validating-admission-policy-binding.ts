import type {
  ValidatingAdmissionPolicyBinding,
  ValidatingAdmissionPolicyBindingSpec,
} from '@coxswain/api/admissionregistration/v1'
import * as field from '@coxswain/apimachinery/field'
import type { Decoded } from '../decoded.ts'
import { defineStrategy } from '../define-strategy.ts'
import type { Findings } from '../shared/reading.ts'
import type { Strategy } from '../strategy.ts'
import { policyBindingStrategy, validateBinding } from './policy-binding.ts'

const actions = ['Audit', 'Deny', 'Warn']

export const validatingAdmissionPolicyBindingStrategy: Strategy =
  defineStrategy<ValidatingAdmissionPolicyBinding>({
    ...policyBindingStrategy,
    validate: object => [...validateBinding(object), ...validateActions(object.spec ?? {})],
  })

function* validateActions(spec: Decoded<ValidatingAdmissionPolicyBindingSpec>): Findings {
  const path = field.Path.of('spec', 'validationActions')
  const found = spec.validationActions ?? []
  const seen = new Set<string>()
  for (const [index, action] of found.entries()) {
    if (!actions.includes(action)) yield field.notSupported(path.index(index), action, actions)
    if (seen.has(action)) yield field.duplicate(path.index(index), action)
    seen.add(action)
  }
  if (seen.has('Deny') && seen.has('Warn'))
    yield field.invalid(
      path,
      found,
      'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)',
    )
  if (seen.size === 0) yield field.required(path, 'at least one validation action is required')
}
