import type { KustomizeFiles } from '../files.ts'
import { applyFieldSpec, entrySetter } from '../filters/field-spec.ts'
import { clearTransformations, setOrigin } from '../resource/origin.ts'
import { Schemas } from '../schema/schemas.ts'
import { documentToJson, type JsonObject } from '../yaml/decode.ts'
import { tags } from '../yaml/node.ts'
import { writeOutput } from '../yaml/write-output.ts'
import { Loader, type LoadRestrictions } from './loader.ts'
import { Target } from './target.ts'
import { sortResources } from './transformers.ts'

/** Options of a build, with the names of the flags of `kustomize build`. */
export interface BuildOptions {
  /** Whether a kustomization may read files outside its folder: `none` allows it. @default 'rootOnly' */
  readonly loadRestrictions?: LoadRestrictions
  /** Called with each deprecated field and other findings; they are in the result too. */
  readonly onWarning?: (warning: string) => void
}

/** The objects of a build, and their text. */
export interface BuildResult {
  readonly objects: readonly JsonObject[]
  /** What `kustomize build` prints. */
  readonly text: string
  readonly warnings: readonly string[]
}

const version = 'v5.8.2'

/** Builds the kustomization in a folder. Throws a KustomizeError. */
export function buildKustomization(
  folder: string,
  files: KustomizeFiles,
  options: BuildOptions = {},
): BuildResult {
  const warnings: string[] = []
  const warn = (warning: string): void => {
    warnings.push(warning)
    options.onWarning?.(warning)
  }
  const loader = Loader.atRoot(folder, files, options.loadRestrictions ?? 'rootOnly')
  const target = new Target(loader, { schemas: new Schemas(), warn })
  const map = target.build()
  const { sortOptions, buildMetadata = [] } = target.kustomization
  sortResources(sortOptions ?? { order: 'legacy' })(map)
  for (const resource of map.resources) {
    if (buildMetadata.includes('managedByLabel'))
      applyFieldSpec(
        resource.node,
        { group: '', version: '', kind: '', path: 'metadata/labels', create: true },
        {
          set: entrySetter('app.kubernetes.io/managed-by', `kustomize-${version}`),
          createKind: 'mapping',
          createTag: tags.mapping,
        },
      )
    resource.removeBuildAnnotations()
    if (!buildMetadata.includes('originAnnotations')) setOrigin(resource, undefined)
    if (!buildMetadata.includes('transformerAnnotations')) clearTransformations(resource)
  }
  const objects = map.resources.map(({ node }) => documentToJson(node))
  return { objects, text: objects.map(writeOutput).join('---\n'), warnings }
}
