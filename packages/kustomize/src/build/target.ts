import { decodeText } from '@coxswain/kit'
import { type Kustomization, readKustomization } from '../config/kustomization.ts'
import { defaultConfig, mergeConfig, readTransformerConfig } from '../config/transformer-config.ts'
import { buildFailed, isKustomizeError, prefixError, withPrefix } from '../errors.ts'
import { fixNameReferences } from '../filters/name-references.ts'
import { localConfigAnnotation, originAnnotation } from '../resource/annotations.ts'
import { addTransformation, getOrigin, type Origin, printOrigin, setOrigin } from '../resource/origin.ts'
import { readResources } from '../resource/read-resources.ts'
import type { Resource } from '../resource/resource.ts'
import { ResourceMap } from '../resource/resource-map.ts'
import type { Schemas } from '../schema/schemas.ts'
import { sameNodes, type YamlNode } from '../yaml/node.ts'
import { Accumulator } from './accumulator.ts'
import { readCrds } from './crds.ts'
import { generate, mergeOptions } from './generators.ts'
import type { Loader } from './loader.ts'
import { joinPath } from './paths.ts'
import { createTransformer, runGenerator } from './plugins.ts'
import { builtInTransformers } from './steps.ts'
import { addHashes, type Transformer } from './transformers.ts'

export interface TargetContext {
  readonly schemas: Schemas
  readonly warn: (warning: string) => void
}

/** A transformer and where it is configured, for `buildMetadata`. */
interface TrackedTransformer {
  readonly transform: Transformer
  readonly origin: Origin | undefined
}

const fileNames = ['kustomization.yaml', 'kustomization.yml', 'Kustomization']

/** A folder with a kustomization. */
export class Target {
  readonly kustomization: Kustomization
  readonly #fileName: string
  readonly #loader: Loader
  readonly #context: TargetContext
  /** Undefined unless `buildMetadata` asks for it. */
  #origin: Origin | undefined

  constructor(loader: Loader, context: TargetContext) {
    this.#loader = loader
    this.#context = context
    const found = fileNames.filter(name => loader.tryLoad(name) !== undefined)
    if (found.length === 0)
      throw buildFailed(
        `unable to find one of 'kustomization.yaml', 'kustomization.yml' or 'Kustomization' in directory '${loader.root}'`,
      )
    if (found.length > 1) throw buildFailed(`Found multiple kustomization files under: ${loader.root}`)
    this.#fileName = found[0]!
    this.kustomization = readKustomization(loader.load(this.#fileName), loader.root, context.warn)
    const openapi = this.kustomization.openapi ?? new Map<string, string>()
    const path = openapi.get('path')
    context.schemas.use(Object.fromEntries(openapi), path === undefined ? undefined : loader.load(path))
  }

  /** Everything, as the root of a build. */
  build(): ResourceMap {
    if ((this.kustomization.buildMetadata?.length ?? 0) > 0) this.#origin = {}
    const accumulator = this.#accumulate(new Accumulator())
    const { map } = accumulator
    addHashes(map)
    fixNameReferences(map.resources, accumulator.config.nameReference)
    const unused = accumulator.resolveVariables()
    if (unused.length > 0)
      this.#context.warn(`well-defined vars that were never replaced: ${unused.join(',')}`)
    map.resources = map.resources.filter(resource => {
      const local = resource.annotation(localConfigAnnotation)
      return !resource.isEmpty && (local === undefined || local === 'false')
    })
    return map
  }

  #accumulate(start: Accumulator): Accumulator {
    const { kustomization } = this
    const loader = this.#loader
    let accumulator = withPrefix('accumulating resources', () =>
      this.#addResources(start, kustomization.resources ?? []),
    )
    let config = defaultConfig()
    for (const path of kustomization.configurations ?? [])
      config = mergeConfig(config, readTransformerConfig(loader.load(path)))
    accumulator.addConfig(config)
    for (const path of kustomization.crds ?? []) accumulator.addConfig(readCrds(loader.load(path), path))
    this.#runGenerators(accumulator)
    accumulator = withPrefix('accumulating components', () => this.#addComponents(accumulator))
    this.#runTransformers(accumulator)
    this.#runValidators(accumulator)
    accumulator.addVariables(kustomization.vars ?? [])
    return accumulator
  }

  #addResources(accumulator: Accumulator, paths: readonly string[]): Accumulator {
    for (const path of paths) {
      const problem = this.#addFile(accumulator, path)
      if (problem === undefined) continue
      let loader: Loader
      try {
        loader = this.#loader.at(path)
      } catch (error) {
        if (problem.message.includes('MalformedYAMLError')) throw problem
        throw prefixError(`accumulation err='${problem.message}'`, error)
      }
      withPrefix(`accumulation err='${problem.message}'`, () =>
        accumulator.addAll(this.#within(loader, path).#accumulateBase()),
      )
    }
    return accumulator
  }

  /** The error when the path is not a file with objects. */
  #addFile(accumulator: Accumulator, path: string): Error | undefined {
    try {
      withPrefix(`accumulating resources from '${path}'`, () => {
        const resources = readResources(decodeText(this.#loader.load(path)), this.#context.schemas)
        if (this.#origin !== undefined)
          for (const resource of resources)
            setOriginText(
              resource,
              printOrigin({ ...this.#origin, path: joinPath(this.#origin.path ?? '', path) }),
            )
        const map = new ResourceMap()
        map.appendAll(resources)
        withPrefix(`merging resources from '${path}'`, () => accumulator.map.appendAll(resources))
      })
      return undefined
    } catch (error) {
      if (isKustomizeError(error, 'BuildFailed')) return error
      throw error
    }
  }

  #within(loader: Loader, path: string): Target {
    const target = withPrefix(
      `couldn't make target for path '${loader.root}'`,
      () => new Target(loader, this.#context),
    )
    if (this.kustomization.buildMetadata === undefined) delete target.kustomization.buildMetadata
    else target.kustomization.buildMetadata = this.kustomization.buildMetadata
    if (this.#origin !== undefined) target.#origin = { path: joinPath(this.#origin.path ?? '', path) }
    return target
  }

  #accumulateBase(): Accumulator {
    if (this.kustomization.kind === 'Component')
      throw buildFailed(`expected kind != 'Component' for path '${this.#loader.root}'`)
    return withPrefix(`recursed accumulation of path '${this.#loader.root}'`, () =>
      this.#accumulate(new Accumulator()),
    )
  }

  #addComponents(start: Accumulator): Accumulator {
    let accumulator = start
    for (const path of this.kustomization.components ?? []) {
      const loader = this.#loader.at(path)
      const component = this.#within(loader, path)
      if (component.kustomization.kind !== 'Component')
        throw buildFailed(
          `expected kind 'Component' for path '${loader.root}' but got '${component.kustomization.kind}'`,
        )
      const merged = new Accumulator()
      merged.addAll(
        withPrefix(`recursed accumulation of path '${loader.root}'`, () =>
          component.#accumulate(accumulator),
        ),
      )
      accumulator = merged
    }
    return accumulator
  }

  #configuredBy(kind: string): Origin | undefined {
    if (this.#origin === undefined) return undefined
    return {
      configuredIn: joinPath(this.#origin.path ?? '', this.#fileName),
      configuredBy: { apiVersion: 'builtin', kind },
    }
  }

  #runGenerators(accumulator: Accumulator): void {
    const { kustomization } = this
    const context = { loader: this.#loader, schemas: this.#context.schemas }
    const absorb = (resources: readonly Resource[], origin: Origin | undefined): void => {
      if (origin !== undefined)
        for (const resource of resources) if (getOrigin(resource) === undefined) setOrigin(resource, origin)
      accumulator.map.absorbAll(resources)
    }
    // All arguments are read before the first object is made.
    const external = this.#plugins(kustomization.generators ?? [])
    const made: [Resource[], Origin | undefined][] = []
    for (const [kind, list] of [
      ['ConfigMap', kustomization.configMapGenerator],
      ['Secret', kustomization.secretGenerator],
    ] as const) {
      for (const args of list ?? []) {
        const options = mergeOptions(args.options, kustomization.generatorOptions)
        const resource = generate(kind, { ...args, ...(options !== undefined && { options }) }, context)
        made.push([[resource], this.#configuredBy(`${kind}Generator`)])
      }
    }
    for (const plugin of external) made.push([runGenerator(plugin, context), pluginOrigin(plugin)])
    for (const [resources, origin] of made) absorb(resources, origin)
  }

  /** The objects that configure plug-ins: written out, or in files and folders. */
  #plugins(entries: readonly string[]): readonly Resource[] {
    const accumulator = new Accumulator()
    const paths: string[] = []
    for (const entry of entries) {
      let resources: Resource[]
      try {
        resources = readResources(entry, this.#context.schemas)
      } catch (error) {
        if (!isKustomizeError(error, 'BuildFailed')) throw error
        paths.push(entry)
        continue
      }
      if (this.#origin !== undefined)
        for (const resource of resources)
          setOrigin(resource, { path: joinPath(this.#origin.path ?? '', this.#fileName) })
      accumulator.map.appendAll(resources)
    }
    return this.#addResources(accumulator, paths).map.resources
  }

  #runTransformers(accumulator: Accumulator): void {
    const context = { loader: this.#loader, schemas: this.#context.schemas }
    const steps: TrackedTransformer[] = builtInTransformers(
      this.kustomization,
      accumulator.config,
      context,
    ).map(({ kind, transform }) => ({ transform, origin: this.#configuredBy(kind) }))
    for (const plugin of this.#plugins(this.kustomization.transformers ?? []))
      steps.push({ transform: createTransformer(plugin, context), origin: pluginOrigin(plugin) })
    for (const { transform, origin } of steps) {
      transform(accumulator.map)
      if (origin !== undefined)
        for (const resource of accumulator.map.resources) recordTransformation(resource, origin)
      accumulator.map.dropEmpty()
    }
  }

  #runValidators(accumulator: Accumulator): void {
    const context = { loader: this.#loader, schemas: this.#context.schemas }
    const { map } = accumulator
    for (const plugin of this.#plugins(this.kustomization.validators ?? [])) {
      const transform = createTransformer(plugin, context)
      const before = map.resources.map(each => each.copy().node)
      transform(map)
      const after = map.resources.map(withoutValidatedLabel)
      if (before.length !== after.length || before.some((node, at) => !sameNodes(node, after[at]!)))
        throw buildFailed("validator shouldn't modify the resource map")
    }
  }
}

/** An object without the label that says that it was validated. */
function withoutValidatedLabel(resource: Resource): YamlNode {
  const copy = resource.copy()
  const { labels } = copy
  if (labels.delete('validated-by')) copy.labels = labels
  return copy.node
}

function pluginOrigin(plugin: Resource): Origin | undefined {
  const origin = getOrigin(plugin)
  if (origin === undefined) return undefined
  return {
    ...(origin.path !== undefined && { configuredIn: origin.path }),
    configuredBy: {
      apiVersion: plugin.apiVersion,
      kind: plugin.kind,
      name: plugin.name,
      namespace: plugin.namespace,
    },
  }
}

function recordTransformation(resource: Resource, origin: Origin): void {
  if (resource.isEmpty) return
  if (getOrigin(resource) === undefined) setOrigin(resource, origin)
  else addTransformation(resource, origin)
}

function setOriginText(resource: Resource, text: string): void {
  resource.setAnnotation(originAnnotation, text)
}
