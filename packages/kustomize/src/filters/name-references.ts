import type { FieldSpec } from '../config/inputs.ts'
import type { NameReference } from '../config/transformer-config.ts'
import { buildFailed, prefixError } from '../errors.ts'
import { type Gvk, isSelected } from '../resource/gvk.ts'
import type { Resource } from '../resource/resource.ts'
import { effectiveNamespace, printId, type ResourceId } from '../resource/resource-id.ts'
import { nodeToJson } from '../yaml/decode.ts'
import { fieldOf, isMissingOrNull, scalarNode, type YamlNode } from '../yaml/node.ts'
import { getField, setField, setScalar } from '../yaml/tree.ts'
import { changeFields } from './field-spec.ts'

/** Brings references to objects whose names or namespaces have changed up to date. */
export function fixNameReferences(
  resources: readonly Resource[],
  references: readonly NameReference[],
): void {
  const index = new ReferralIndex(resources)
  const byReferrer = new Map<Resource, ReferenceFixer>()
  const specsOfKind = new Map<string, { spec: FieldSpec; target: Gvk }[]>()
  for (const resource of resources) {
    const { group, version, kind } = resource.originalId
    const key = `${group}/${version}/${kind}`
    let specs = specsOfKind.get(key)
    if (specs === undefined) {
      specs = references.flatMap(({ referrers, ...target }) =>
        referrers.filter(spec => isSelected({ group, version, kind }, spec)).map(spec => ({ spec, target })),
      )
      specsOfKind.set(key, specs)
    }
    for (const { spec, target } of specs) {
      let fixer = byReferrer.get(resource)
      if (fixer === undefined) {
        fixer = new ReferenceFixer(resource, index)
        byReferrer.set(resource, fixer)
      }
      fixer.fix(spec, target)
    }
  }
}

/** Objects by their former names. */
class ReferralIndex {
  readonly resources: readonly Resource[]
  readonly #byName = new Map<string, Resource[]>()
  readonly #ids = new Map<Resource, readonly ResourceId[]>()

  constructor(resources: readonly Resource[]) {
    this.resources = resources
    for (const resource of resources) {
      const ids = resource.previousIds
      this.#ids.set(resource, ids)
      for (const name of new Set(ids.map(id => id.name))) {
        const known = this.#byName.get(name)
        if (known === undefined) this.#byName.set(name, [resource])
        else known.push(resource)
      }
    }
  }

  named(name: string): readonly Resource[] {
    return this.#byName.get(name) ?? []
  }

  wasSelected(resource: Resource, gvk: Gvk): boolean {
    return this.#ids.get(resource)!.some(id => isSelected(id, gvk))
  }

  originalNamespace(resource: Resource): string {
    return effectiveNamespace(this.#ids.get(resource)![0] ?? resource.currentId)
  }
}

class ReferenceFixer {
  readonly #referrer: Resource
  readonly #index: ReferralIndex
  readonly #roleBindingNamespaces: ReadonlySet<string>
  /** The first namespaces of all objects that the referrer can refer to. */
  #originalNamespaces: ReadonlySet<string> | undefined

  constructor(referrer: Resource, index: ReferralIndex) {
    this.#referrer = referrer
    this.#index = index
    this.#roleBindingNamespaces = subjectNamespaces(referrer)
  }

  fix(spec: FieldSpec, target: Gvk): void {
    const referrer = this.#referrer
    try {
      changeFields(referrer.node, spec, { set: node => this.#set(node, spec, target) })
    } catch (error) {
      throw prefixError(
        `updating name reference in '${spec.path}' field of '${printId(referrer.currentId)}'`,
        error,
      )
    }
  }

  #set(node: YamlNode, spec: FieldSpec, target: Gvk): void {
    if (isMissingOrNull(node)) return
    if (node.kind === 'scalar') this.#setScalar(node, spec, target)
    else if (node.kind === 'mapping') this.#setMapping(node, spec, target)
    else {
      for (const item of node.content) {
        if (isMissingOrNull(item)) continue
        if (item.kind === 'scalar') this.#setScalar(item, spec, target)
        else if (item.kind === 'mapping') this.#setMapping(item, spec, target)
        else throw buildFailed('a name reference is expected to be either a string or a map of string')
      }
    }
  }

  #setScalar(node: YamlNode, spec: FieldSpec, target: Gvk): void {
    const candidates = this.#candidates(node.value)
    const referral = this.#select(candidates, { spec, target, isSame: (a, b) => a.name === b.name })
    if (referral !== undefined && referral.name !== node.value) setScalar(node, scalarNode(referral.name))
  }

  #setMapping(node: YamlNode, spec: FieldSpec, target: Gvk): void {
    const name = getField(node, 'name')
    if (name === undefined) throw buildFailed("path config error; no 'name' field in node")
    const candidates = this.#inNamespace(this.#candidates(name.value), getField(node, 'namespace'))
    const referral = this.#select(candidates, {
      spec,
      target,
      isSame: (a, b) => a.name === b.name && a.namespace === b.namespace,
    })
    if (referral === undefined) return
    const { namespace } = referral
    if (referral.name === name.value && namespace === '') return
    setField(node, 'name', { value: scalarNode(referral.name) })
    if (namespace !== '') setField(node, 'namespace', { value: scalarNode(namespace) })
  }

  /** The objects with this former name that the referrer can refer to. */
  #candidates(name: string): readonly Resource[] {
    return this.#withinReach(this.#index.named(name))
  }

  #withinReach(resources: readonly Resource[]): readonly Resource[] {
    if (resources.length === 0) return resources
    const own = this.#referrer.currentId
    if (own.clusterScoped) return resources
    const namespace = effectiveNamespace(own)
    return resources.filter(each => {
      const id = each.currentId
      return (
        id.clusterScoped ||
        effectiveNamespace(id) === namespace ||
        this.#roleBindingNamespaces.has(each.namespace)
      )
    })
  }

  #inNamespace(candidates: readonly Resource[], namespaceNode: YamlNode | undefined): readonly Resource[] {
    if (namespaceNode === undefined) return candidates
    const namespace = namespaceNode.value
    this.#originalNamespaces ??= new Set(
      this.#withinReach(this.#index.resources).map(each => this.#index.originalNamespace(each)),
    )
    if (this.#originalNamespaces.has(namespace))
      return candidates.filter(each => this.#index.originalNamespace(each) === namespace)
    return candidates.filter(each => effectiveNamespace(each.currentId) === namespace)
  }

  #select(
    found: readonly Resource[],
    { spec, target, isSame }: { spec: FieldSpec; target: Gvk; isSame: (a: Resource, b: Resource) => boolean },
  ): Resource | undefined {
    if (found.length === 0) return undefined
    const referrer = this.#referrer
    let candidates = found.filter(each => this.#index.wasSelected(each, target))
    const role = spec.path.endsWith('roleRef/name') ? roleRefGvk(referrer) : undefined
    if (role !== undefined) candidates = candidates.filter(each => this.#index.wasSelected(each, role))
    const own = referrer.currentId
    if (!own.clusterScoped)
      candidates = candidates.filter(each => {
        const id = each.currentId
        return (
          id.clusterScoped ||
          id.kind === 'ServiceAccount' ||
          effectiveNamespace(id) === effectiveNamespace(own)
        )
      })
    if (candidates.length <= 1) return candidates[0]
    candidates = candidates.filter(
      each =>
        hasSameEnd(each.prefixes, referrer.prefixes, 'or empty') &&
        hasSameEnd(each.suffixes, referrer.suffixes, 'or empty'),
    )
    if (candidates.length > 1)
      candidates = candidates.filter(
        each => hasSameEnd(each.prefixes, referrer.prefixes) && hasSameEnd(each.suffixes, referrer.suffixes),
      )
    const [first, ...others] = candidates
    if (first === undefined || others.every(each => isSame(first, each))) return first
    throw buildFailed(
      `found multiple possible referrals: ${candidates.map(each => printId(each.currentId)).join(', ')}`,
    )
  }
}

/** Whether the shorter list is the end of the longer one. */
function hasSameEnd(a: readonly string[], b: readonly string[], empty?: 'or empty'): boolean {
  if (empty !== undefined && (a.length === 0 || b.length === 0)) return true
  const [short, long] = a.length > b.length ? [b, a] : [a, b]
  if (short.length === 0) return long.length === 0
  return short.every((each, at) => long[long.length - short.length + at] === each)
}

function roleRefGvk(resource: Resource): Gvk | undefined {
  const role = fieldOf(resource.node, 'roleRef')
  const group = fieldOf(role, 'apiGroup')
  const kind = fieldOf(role, 'kind')
  return group === undefined || kind === undefined
    ? undefined
    : { group: group.value, version: '', kind: kind.value }
}

/** The namespaces of the service accounts that a RoleBinding names: they are outside of its own. */
function subjectNamespaces(resource: Resource): ReadonlySet<string> {
  const namespaces = new Set<string>()
  const subjects = resource.kind === 'RoleBinding' ? fieldOf(resource.node, 'subjects') : undefined
  if (isMissingOrNull(subjects) || (subjects as YamlNode).kind !== 'sequence') return namespaces
  for (const subject of (subjects as YamlNode).content) {
    const namespace = fieldOf(subject, 'namespace')
    if (namespace === undefined || fieldOf(subject, 'kind')?.value !== 'ServiceAccount') continue
    if (typeof nodeToJson(namespace) !== 'string')
      throw buildFailed(`Invalid Input: namespace is blank for resource "${printId(resource.currentId)}"`)
    namespaces.add(namespace.value)
  }
  return namespaces
}
