import type { FieldSpec } from '../config/inputs.ts'
import { buildFailed } from '../errors.ts'
import type { Resource } from '../resource/resource.ts'
import { isEmptyNode, isMissingOrNull, scalarNode, tags, type YamlNode } from '../yaml/node.ts'
import { expectKind, getField, lookup, setScalar } from '../yaml/tree.ts'
import { applyFieldSpecs } from './field-spec.ts'

export interface NamespaceChange {
  readonly namespace: string
  readonly specs: readonly FieldSpec[]
  readonly unsetOnly: boolean
  readonly subjects: 'defaultOnly' | 'allServiceAccounts' | 'none'
}

const metadataNamespace: FieldSpec = {
  group: '',
  version: '',
  kind: '',
  path: 'metadata/namespace',
  create: true,
}

/** Puts an object into a namespace, with the subjects of role bindings and the fields of the specs. */
export function changeNamespace(resource: Resource, change: NamespaceChange): void {
  const root = resource.node
  const set = (node: YamlNode): void => {
    if (change.unsetOnly && !isEmptyNode(node) && node.kind === 'scalar' && node.value !== '') return
    setScalar(node, scalarNode(change.namespace, tags.string))
  }
  let specs = change.specs.filter(
    ({ path }) => path !== 'metadata/namespace' && (resource.apiVersion === 'v1' || path !== 'metadata/name'),
  )
  if (!resource.currentId.clusterScoped)
    applyFieldSpecs(root, [metadataNamespace], { set, createKind: 'scalar' })
  if (isRoleBinding(resource.kind)) {
    specs = specs.filter(spec => !(isRoleBinding(spec.kind) && spec.path === 'subjects/namespace'))
    changeSubjects(root, change, set)
  }
  applyFieldSpecs(root, specs, { set, createKind: 'scalar', createTag: tags.string })
}

const isRoleBinding = (kind: string): boolean => kind === 'RoleBinding' || kind === 'ClusterRoleBinding'

function changeSubjects(root: YamlNode, { subjects }: NamespaceChange, set: (node: YamlNode) => void): void {
  if (subjects === 'none') return
  const list = getField(root, 'subjects')
  if (isMissingOrNull(list)) return
  expectKind(list, 'sequence')
  const [field, value] = subjects === 'defaultOnly' ? ['name', 'default'] : ['kind', 'ServiceAccount']
  for (const subject of (list as YamlNode).content) {
    const found = getField(subject, field!)
    if (isMissingOrNull(found)) continue
    expectKind(found, 'scalar')
    if ((found as YamlNode).value !== value) continue
    const namespace = lookup(subject, ['namespace'], 'scalar')
    if (namespace === undefined) throw buildFailed('setting namespace field on (cluster)role binding subject')
    set(namespace)
  }
}
