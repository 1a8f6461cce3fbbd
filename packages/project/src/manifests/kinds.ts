import {
  type AnyDefinedKind,
  type CustomResourceDefinition,
  definedKindOf,
  type Kind,
  toCustomResourceDefinition,
} from '@coxswain/apimachinery/kinds'
import type { OperatorDefinition } from '@coxswain/runtime'
import { ProjectError } from '../errors.ts'
import { checkCrd } from './check-crd.ts'

/** A kind whose CRD belongs to the project. */
export interface ProjectKind {
  readonly kind: AnyDefinedKind
  readonly crd: CustomResourceDefinition
  /** The base of file and role names: the singular, with its group where two kinds share it. */
  readonly id: string
}

/** The kinds of `defineKind` that the operators reconcile, own, watch or have webhooks for, and `others`; in the order of their names. */
export function collectKinds(
  operators: readonly OperatorDefinition[],
  others: readonly AnyDefinedKind[],
  featureGates: readonly string[] = [],
): ProjectKind[] {
  const used = operators.flatMap(({ controllers, webhooks }): Kind[] => [
    ...controllers.flatMap(({ sources }) => sources.map(({ kind }) => kind)),
    ...webhooks.map(({ kind }) => kind),
  ])
  const kinds = new Set([...used.flatMap(kind => definedKindOf(kind) ?? []), ...others])
  const byName = new Map<string, { readonly kind: AnyDefinedKind; readonly crd: CustomResourceDefinition }>()
  for (const kind of kinds) {
    const crd = toCustomResourceDefinition(kind, { featureGates })
    const { name } = crd.metadata
    if (byName.has(name))
      throw new ProjectError(
        'BadManifests',
        `two kinds are named ${name}: rename one, or give it another plural`,
      )
    checkCrd(crd)
    byName.set(name, { kind, crd })
  }
  const singulars = [...byName.values()].map(({ crd }) => crd.spec.names.singular)
  return [...byName.values()]
    .map(({ kind, crd }) => {
      const singular = crd.spec.names.singular ?? crd.spec.names.kind.toLowerCase()
      const isShared = singulars.filter(each => each === singular).length > 1
      return { kind, crd, id: isShared ? `${singular}-${crd.spec.group.replaceAll('.', '-')}` : singular }
    })
    .sort((a, b) => (a.crd.metadata.name < b.crd.metadata.name ? -1 : 1))
}

/** The name of the file of a CRD, as controller-gen has it. */
export function crdFileName({ spec }: CustomResourceDefinition): string {
  return `${spec.group}_${spec.names.plural}.yaml`
}
