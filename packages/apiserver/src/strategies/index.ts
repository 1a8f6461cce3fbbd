import { customResourceDefinitionStrategy } from '../crd/strategy.ts'
import type { Strategy } from '../registry/strategy.ts'
import { createEventStrategy, defaultEventTtl } from './event.ts'
import { namespaceStrategy } from './namespace.ts'
import { nodeStrategy } from './node.ts'
import { podStrategy } from './pod.ts'

/** The kinds with rules of their own, by `GROUP/RESOURCE`. All others go by their schema. */
const strategies: Readonly<Record<string, Strategy>> = {
  '/namespaces': namespaceStrategy,
  '/nodes': nodeStrategy,
  '/pods': podStrategy,
  '/events': createEventStrategy(defaultEventTtl),
  'events.k8s.io/events': createEventStrategy(defaultEventTtl),
  'apiextensions.k8s.io/customresourcedefinitions': customResourceDefinitionStrategy,
  'coordination.k8s.io/leases': { createOnUpdate: true },
}

const bySchema: Strategy = {}
const withGeneration: Strategy = { generation: 'spec' }

/** Groups whose kinds count changes of their spec. */
const counting = new Set([
  'apps',
  'batch',
  'networking.k8s.io',
  'policy',
  'autoscaling',
  'flowcontrol.apiserver.k8s.io',
])

export function strategyFor(group: string, resource: string): Strategy {
  return strategies[`${group}/${resource}`] ?? (counting.has(group) ? withGeneration : bySchema)
}
