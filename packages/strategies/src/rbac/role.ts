import type { Role } from '@coxswain/api/rbac/v1'
import { nameIsPathSegment } from '@coxswain/apimachinery/validation'
import { defineStrategy } from '../define-strategy.ts'
import type { Strategy } from '../strategy.ts'
import { checkRole } from './escalation.ts'
import { validateRules } from './policy-rules.ts'

export const roleStrategy: Strategy = defineStrategy<Role>({
  createOnUpdate: true,
  validateName: name => nameIsPathSegment(name, false),
  prepareForCreate: (object, context) => checkRole('roles', object, undefined, context),
  prepareForUpdate: (object, old, context) => checkRole('roles', object, old, context),
  validate: object => validateRules(object, 'Namespaced'),
})
