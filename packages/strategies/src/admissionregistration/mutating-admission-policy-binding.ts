import type { MutatingAdmissionPolicyBinding } from '@coxswain/api/admissionregistration/v1'
import * as field from '@coxswain/apimachinery/field'
import { defineStrategy } from '../define-strategy.ts'
import type { Strategy } from '../strategy.ts'
import { policyBindingStrategy, validateBinding } from './policy-binding.ts'
import { validateMutatingOperations } from './rules.ts'

export const mutatingAdmissionPolicyBindingStrategy: Strategy =
  defineStrategy<MutatingAdmissionPolicyBinding>({
    ...policyBindingStrategy,
    validate: object => [
      ...validateBinding(object),
      ...validateMutatingOperations(object.spec?.matchResources, field.Path.of('spec', 'matchResources')),
    ],
  })
