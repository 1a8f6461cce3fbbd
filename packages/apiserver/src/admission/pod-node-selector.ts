import { childObject, isObject } from '@coxswain/apimachinery/json'
import { type AdmissionPlugin, isPodWrite } from './admission.ts'
import type { Attributes } from './attributes.ts'
import { findNamespace } from './matching/selectors.ts'
import { forbidden } from './policies/policy-request.ts'

/** Node selectors (`a=b,c=d`) by namespace; `clusterDefaultNodeSelector` for namespaces without one. */
export type PodNodeSelectorConfiguration = Readonly<Record<string, string>>

const annotation = 'scheduler.alpha.kubernetes.io/node-selector'

/** Adds the namespace's node selector to its Pods. Off by default. */
export function createPodNodeSelector(configuration: PodNodeSelectorConfiguration = {}): AdmissionPlugin {
  const check = (attributes: Attributes, phase: 'mutate' | 'validate') => {
    if (!isPodWrite(attributes, 'CREATE') || !attributes.object) return
    const spec = childObject(attributes.object, 'spec')
    const own = isObject(spec.nodeSelector) ? (spec.nodeSelector as Record<string, string>) : {}
    const { metadata } = findNamespace(attributes.server, attributes.namespace).parse()
    const annotations = isObject(metadata) && isObject(metadata.annotations) ? metadata.annotations : {}
    const wanted = readLabels(
      String(annotations[annotation] ?? configuration.clusterDefaultNodeSelector ?? ''),
    )
    const refuse = (problem: string) => forbidden(attributes, problem)
    if (Object.entries(wanted).some(([key, value]) => (own[key] ?? value) !== value))
      throw refuse('pod node label selector conflicts with its namespace node label selector')
    const selector = { ...wanted, ...own }
    if (phase === 'mutate' && Object.keys(selector).length > 0) spec.nodeSelector = selector
    const allowed = readLabels(configuration[attributes.namespace] ?? '')
    const isAllowed = Object.entries(phase === 'mutate' ? selector : own).every(
      ([key, value]) => allowed[key] === value,
    )
    if (Object.keys(allowed).length > 0 && !isAllowed)
      throw refuse('pod node label selector labels conflict with its namespace whitelist')
  }
  return {
    name: 'PodNodeSelector',
    needs: 'pods',
    mutate: attributes => check(attributes, 'mutate'),
    validate: attributes => check(attributes, 'validate'),
  }
}

function readLabels(text: string): Record<string, string> {
  const pairs = text.split(',').map(pair => pair.trim().split('='))
  return Object.fromEntries(
    pairs.filter(([key]) => key !== '').map(([key = '', value = '']) => [key.trim(), value.trim()]),
  )
}
