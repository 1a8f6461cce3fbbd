import { parseLabelSelector, type Selector } from '@coxswain/apimachinery/selectors'
import type { SelectorInput } from '../config/inputs.ts'
import { buildFailed } from '../errors.ts'
import { compileRegex } from '../regex.ts'
import type { Gvk } from '../resource/gvk.ts'
import type { Resource } from '../resource/resource.ts'
import { effectiveNamespace } from '../resource/resource-id.ts'

/** A selector whose fields are regular expressions that match as a whole. */
export class ResourceSelector {
  readonly #tests: Readonly<
    Record<'group' | 'version' | 'kind' | 'name' | 'namespace', ((text: string) => boolean) | undefined>
  >
  readonly #labels: Selector | undefined
  readonly #annotations: Selector | undefined
  /** Whether it has no group, version, kind, name or namespace. */
  readonly selectsNoId: boolean
  readonly selectsByMetadata: boolean

  constructor(input: SelectorInput) {
    this.#tests = {
      group: wholeMatch(input.group),
      version: wholeMatch(input.version),
      kind: wholeMatch(input.kind),
      name: wholeMatch(input.name),
      namespace: wholeMatch(input.namespace),
    }
    this.#labels = parseSelector(input.labelSelector)
    this.#annotations = parseSelector(input.annotationSelector)
    this.selectsNoId = Object.values(this.#tests).every(test => test === undefined)
    this.selectsByMetadata = this.#labels !== undefined || this.#annotations !== undefined
  }

  matchesName(name: string): boolean {
    return this.#tests.name?.(name) ?? true
  }

  matchesNamespace(namespace: string): boolean {
    return this.#tests.namespace?.(namespace) ?? true
  }

  matchesGvk({ group, version, kind }: Gvk): boolean {
    return (
      (this.#tests.group?.(group) ?? true) &&
      (this.#tests.version?.(version) ?? true) &&
      (this.#tests.kind?.(kind) ?? true)
    )
  }

  matchesMetadata(resource: Resource): boolean {
    return (
      (this.#labels?.matches(Object.fromEntries(resource.labels)) ?? true) &&
      (this.#annotations?.matches(Object.fromEntries(resource.annotations)) ?? true)
    )
  }

  /** By the first or the current name and namespace. */
  select(resources: readonly Resource[]): Resource[] {
    return resources.filter(resource => {
      const current = resource.currentId
      const original = resource.originalId
      return (
        (this.matchesNamespace(effectiveNamespace(original)) ||
          this.matchesNamespace(effectiveNamespace(current))) &&
        (this.matchesName(original.name) || this.matchesName(current.name)) &&
        this.matchesGvk(current) &&
        this.matchesMetadata(resource)
      )
    })
  }
}

function wholeMatch(pattern: string | undefined): ((text: string) => boolean) | undefined {
  if (pattern === undefined || pattern === '') return undefined
  const regex = compileRegex(`^(?:${pattern})$`)
  return text => regex.test(text)
}

function parseSelector(text: string | undefined): Selector | undefined {
  if (text === undefined || text === '') return undefined
  try {
    return parseLabelSelector(text)
  } catch (error) {
    throw buildFailed((error as Error).message, error)
  }
}
