import { MachineryError } from '../errors.ts'
import type { ApiObject } from '../meta/meta.ts'
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
} from './crd.ts'
import { resourceInfoFromCrd } from './crd-resource-info.ts'
import type { Kind } from './kind.ts'

/** The key of the CRD of a {@link CustomResourceKind}. */
export const definition: unique symbol = Symbol.for('coxswain.apimachinery.customResource') as never

/**
 * A kind whose CRD belongs to another project, such as cert-manager's Certificate: clients and controllers use it, nothing installs
 * it by itself. `coxswain types` writes them.
 */
export interface CustomResourceKind<T extends ApiObject = ApiObject, Create = unknown, Apply = unknown>
  extends Kind<T, Create, Apply> {
  readonly [definition]: () => CustomResourceDefinition
}

/** What is known of a CRD without its versions. */
export interface CustomResourceHead extends Omit<CustomResourceDefinitionSpec, 'versions'> {
  /** Metadata of the CRD itself. */
  readonly annotations?: Readonly<Record<string, string>>
  readonly labels?: Readonly<Record<string, string>>
}

/**
 * The kinds of a CRD: the function it returns has the handle of each version. `versions` is called when a schema is first read.
 */
export function customResource(
  head: CustomResourceHead,
  versions: () => readonly CustomResourceDefinitionVersion[],
): <T extends ApiObject, Create, Apply>(version: string) => CustomResourceKind<T, Create, Apply> {
  const { annotations, labels, ...spec } = head
  let made: CustomResourceDefinition | undefined
  const definitionOf = (): CustomResourceDefinition => {
    made ??= {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: {
        name: `${spec.names.plural}.${spec.group}`,
        ...(annotations && { annotations }),
        ...(labels && { labels }),
      },
      spec: { ...spec, versions: versions() },
    }
    return made
  }
  const { versions: _, ...names } = resourceInfoFromCrd({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: '' },
    spec: { ...spec, versions: [] },
  })
  return version => ({
    group: names.group,
    version,
    kind: names.kind,
    listKind: names.listKind,
    resource: names.resource,
    singular: names.singular,
    namespaced: names.namespaced,
    schema: () => schemaAt(definitionOf(), version),
    [definition]: definitionOf,
  })
}

function schemaAt(crd: CustomResourceDefinition, name: string): ReturnType<Kind['schema']> {
  const info = resourceInfoFromCrd(crd).versions.find(version => version.name === name)
  if (info === undefined) throw new MachineryError('BadKind', `${crd.metadata.name} has no version ${name}`)
  return info.schema()
}
