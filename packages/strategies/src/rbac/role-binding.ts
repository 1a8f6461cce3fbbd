import type { Strategy } from '../strategy.ts'
import { createBindingStrategy } from './bindings.ts'

export const roleBindingStrategy: Strategy = createBindingStrategy({
  resource: 'rolebindings',
  roleKinds: ['Role', 'ClusterRole'],
})
