/** The options of `coxswain kustomize build`. */
export interface BuildCommandOptions {
  readonly output?: string
  readonly loadRestrictor: 'LoadRestrictionsRootOnly' | 'LoadRestrictionsNone'
}
