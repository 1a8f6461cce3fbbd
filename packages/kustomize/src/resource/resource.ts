import { buildFailed } from '../errors.ts'
import type { Schemas } from '../schema/schemas.ts'
import { mergeStrategic } from '../yaml/merge.ts'
import { copyNode, fieldOf, isEmptyNode, scalarNode, stringNode, type YamlNode } from '../yaml/node.ts'
import { clearField, lookup, metadataMap, metadataOf, setField, setMetadataMap } from '../yaml/tree.ts'
import { buildAnnotations, enabled, removedAnnotations } from './annotations.ts'
import { type Gvk, splitApiVersion } from './gvk.ts'
import { effectiveNamespace, printId, type ResourceId } from './resource-id.ts'

/** What a generated object does to one of the same name. */
export type Behavior = 'unspecified' | 'create' | 'replace' | 'merge'

/** An object of a build. What happened to it is written in its annotations, as in the original: patches see them. */
export class Resource {
  /** Undefined once a patch has deleted the object. */
  root: YamlNode | undefined
  /** The variables that get their value from this object. */
  readonly varNames: string[] = []
  readonly #schemas: Schemas

  constructor(root: YamlNode, schemas: Schemas) {
    this.root = root
    this.#schemas = schemas
  }

  copy(): Resource {
    const copy = new Resource(copyNode(this.node), this.#schemas)
    for (const name of this.varNames) copy.varNames.push(name)
    return copy
  }

  /** The document; it is an error to ask for one that was deleted. */
  get node(): YamlNode {
    if (this.root === undefined) throw buildFailed('an object that a patch deleted is used')
    return this.root
  }

  get isEmpty(): boolean {
    return isEmptyNode(this.root)
  }

  get kind(): string {
    return fieldOf(this.root, 'kind')?.value ?? ''
  }

  get apiVersion(): string {
    return fieldOf(this.root, 'apiVersion')?.value ?? ''
  }

  get gvk(): Gvk {
    return { ...splitApiVersion(this.apiVersion), kind: this.kind }
  }

  get name(): string {
    return this.#metadataText('name')
  }

  get namespace(): string {
    return this.#metadataText('namespace')
  }

  #metadataText(field: string): string {
    if (this.root === undefined) return ''
    const value = fieldOf(metadataOf(this.root), field)
    return isEmptyNode(value) ? '' : value!.value
  }

  setName(name: string): void {
    setField(lookup(this.node, ['metadata'], 'mapping')!, 'name', { value: scalarNode(name) })
  }

  setNamespace(namespace: string): void {
    if (namespace === '') {
      const metadata = lookup(this.node, ['metadata'])
      if (metadata !== undefined) clearField(metadata, 'namespace')
    } else
      setField(lookup(this.node, ['metadata'], 'mapping')!, 'namespace', { value: scalarNode(namespace) })
  }

  setKind(kind: string): void {
    setField(this.node, 'kind', { value: scalarNode(kind) })
  }

  setApiVersion(apiVersion: string): void {
    setField(this.node, 'apiVersion', { value: scalarNode(apiVersion) })
  }

  get labels(): Map<string, string> {
    return this.root === undefined ? new Map() : metadataMap(this.root, 'labels')
  }

  set labels(labels: ReadonlyMap<string, string>) {
    setMetadataMap(this.node, 'labels', labels)
  }

  get annotations(): Map<string, string> {
    return this.root === undefined ? new Map() : metadataMap(this.root, 'annotations')
  }

  set annotations(annotations: ReadonlyMap<string, string>) {
    setMetadataMap(this.node, 'annotations', annotations)
  }

  annotation(key: string): string | undefined {
    return this.root === undefined
      ? undefined
      : fieldOf(fieldOf(metadataOf(this.root), 'annotations'), key)?.value
  }

  setAnnotation(key: string, value: string): void {
    const metadata = fieldOf(this.node, 'metadata')
    const annotations = fieldOf(metadata, 'annotations')
    if (annotations !== undefined && annotations.content.length === 0) clearField(metadata!, 'annotations')
    const node = stringNode(value)
    node.style = 'single'
    setField(lookup(this.node, ['metadata', 'annotations'], 'mapping')!, key, { value: node })
  }

  #list(key: string): string[] {
    return this.annotation(key)?.split(',') ?? []
  }

  #append(key: string, value: string): void {
    if (value !== '') this.setAnnotation(key, [...this.#list(key), value].join(','))
  }

  get prefixes(): readonly string[] {
    return this.#list(buildAnnotations.prefixes)
  }

  get suffixes(): readonly string[] {
    return this.#list(buildAnnotations.suffixes)
  }

  addPrefix(prefix: string): void {
    this.#append(buildAnnotations.prefixes, prefix)
  }

  addSuffix(suffix: string): void {
    this.#append(buildAnnotations.suffixes, suffix)
  }

  get currentId(): ResourceId {
    const { apiVersion, kind, name, namespace } = this
    const { group, version } = splitApiVersion(apiVersion)
    const clusterScoped = this.#schemas.isClusterScoped(apiVersion, kind)
    return { group, version, kind, name, namespace, clusterScoped }
  }

  /** The current id as replacements see it: an object without a namespace is in the default one. */
  get currentIdWithoutScope(): ResourceId {
    return { ...this.gvk, name: this.name, namespace: this.namespace, clusterScoped: false }
  }

  /** Former ids, the oldest first. */
  get previousIds(): ResourceId[] {
    const names = this.annotation(buildAnnotations.previousNames)?.split(',')
    if (names === undefined) return []
    const namespaces = this.annotation(buildAnnotations.previousNamespaces)?.split(',') ?? ['']
    const kinds = this.annotation(buildAnnotations.previousKinds)?.split(',') ?? ['']
    if (names.length !== namespaces.length || names.length !== kinds.length)
      throw buildFailed(
        'number of previous names, number of previous namespaces, number of previous kinds not equal',
      )
    const { group, version } = splitApiVersion(this.apiVersion)
    return names.map((name, at) => ({
      group,
      version,
      kind: kinds[at]!,
      name,
      namespace: namespaces[at]!,
      clusterScoped: false,
    }))
  }

  get originalId(): ResourceId {
    return this.previousIds[0] ?? this.currentId
  }

  storePreviousId(): void {
    const id = this.currentId
    this.#append(buildAnnotations.previousNames, id.name)
    this.#append(buildAnnotations.previousNamespaces, effectiveNamespace(id))
    this.#append(buildAnnotations.previousKinds, id.kind)
  }

  enable(key: 'allowNameChange' | 'allowKindChange' | 'needsHash'): void {
    this.annotations = this.annotations.set(buildAnnotations[key], enabled)
  }

  isEnabled(key: 'allowNameChange' | 'allowKindChange' | 'needsHash'): boolean {
    return this.annotation(buildAnnotations[key]) === enabled
  }

  get behavior(): Behavior {
    const text = this.annotation(buildAnnotations.behavior)
    return text === 'create' || text === 'replace' || text === 'merge' ? text : 'unspecified'
  }

  set behavior(behavior: Behavior) {
    this.annotations = this.annotations.set(buildAnnotations.behavior, behavior)
  }

  removeBuildAnnotations(): void {
    const { annotations } = this
    if (annotations.size === 0) return
    for (const key of removedAnnotations) annotations.delete(key)
    this.annotations = annotations
  }

  /** Takes over name, namespace, labels and annotations of another object; its own labels and annotations win. */
  mergeMetadataFrom(other: Resource): void {
    this.labels = new Map([...other.labels, ...this.labels])
    const own = this.annotations
    const others = other.annotations
    const merged = new Map([...others, ...own])
    for (const key of removedAnnotations) {
      const value = others.get(key)
      if (value === undefined) merged.delete(key)
      else merged.set(key, value)
    }
    if (!own.has(buildAnnotations.needsHash)) merged.delete(buildAnnotations.needsHash)
    this.annotations = merged
    this.setName(other.name)
    this.setNamespace(other.namespace)
    this.varNames.length = 0
    for (const name of other.varNames) this.varNames.push(name)
  }

  /** Applies a strategic merge patch; name, kind and namespace stay unless the patch may change them. */
  applyPatch(patch: Resource): void {
    const { name, namespace, kind } = this
    const mayRename = patch.isEnabled('allowNameChange')
    const mayChangeKind = patch.isEnabled('allowKindChange')
    if (mayRename || mayChangeKind) this.storePreviousId()
    this.root = mergeStrategic(patch.node, this.node, this.#schemas)
    if (this.isEmpty) return
    if (!mayChangeKind) this.setKind(kind)
    if (!mayRename) this.setName(name)
    this.setNamespace(namespace)
  }

  toString(): string {
    return printId(this.currentId)
  }
}
