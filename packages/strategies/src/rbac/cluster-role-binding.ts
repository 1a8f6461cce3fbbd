import type { Strategy } from '../strategy.ts'
import { createBindingStrategy } from './bindings.ts'

export const clusterRoleBindingStrategy: Strategy = createBindingStrategy({
  resource: 'clusterrolebindings',
  roleKinds: ['ClusterRole'],
})
