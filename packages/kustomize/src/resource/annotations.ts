const domain = 'internal.config.kubernetes.io'

type BuildAnnotation =
  | 'previousKinds'
  | 'previousNames'
  | 'prefixes'
  | 'suffixes'
  | 'previousNamespaces'
  | 'allowNameChange'
  | 'allowKindChange'
  | 'refBy'
  | 'behavior'
  | 'needsHash'

/** The annotations by which a build remembers what happened to an object. They are removed from its output. */
export const buildAnnotations: Readonly<Record<BuildAnnotation, string>> = {
  previousKinds: `${domain}/previousKinds`,
  previousNames: `${domain}/previousNames`,
  prefixes: `${domain}/prefixes`,
  suffixes: `${domain}/suffixes`,
  previousNamespaces: `${domain}/previousNamespaces`,
  allowNameChange: `${domain}/allowNameChange`,
  allowKindChange: `${domain}/allowKindChange`,
  refBy: `${domain}/refBy`,
  behavior: `${domain}/generatorBehavior`,
  needsHash: `${domain}/needsHashSuffix`,
}

export const removedAnnotations: readonly string[] = [
  ...Object.values(buildAnnotations),
  `${domain}/path`,
  `${domain}/index`,
  `${domain}/seqindent`,
  `${domain}/id`,
  `${domain}/annotations-migration-resource-id`,
  'config.kubernetes.io/path',
  'config.kubernetes.io/index',
  'config.k8s.io/id',
  `${domain}/helm-generated`,
]

export const originAnnotation = 'config.kubernetes.io/origin'
export const transformationsAnnotation = 'alpha.config.kubernetes.io/transformations'
export const localConfigAnnotation = 'config.kubernetes.io/local-config'
export const helmAnnotation: string = `${domain}/helm-generated`

const legacy = new Set(['config.kubernetes.io/path', 'config.kubernetes.io/index', 'config.k8s.io/id'])

/** Whether a JSON patch keeps the annotation whatever it does. */
export const isInternalAnnotation = (key: string): boolean => key.startsWith(`${domain}/`) || legacy.has(key)

export const enabled = 'enabled'
