/** The options of `image build`. */
export interface ImageBuildOptions {
  readonly tag?: readonly string[]
  readonly base: string
  readonly platform?: string
  readonly output?: string
  readonly push: boolean
  readonly sbom?: string
  readonly label?: readonly string[]
  readonly insecureRegistry?: readonly string[]
  readonly config?: string
}
