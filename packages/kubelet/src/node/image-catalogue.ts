/** What an image means on this machine. */
export interface CatalogueImage {
  /** The default command. */
  readonly command?: readonly string[]
  /** The default arguments. */
  readonly args?: readonly string[]
  /** The directory that is the root of absolute working directories. @default '/' */
  readonly root?: string
  readonly env?: Readonly<Record<string, string>>
}

/** By name: the whole image, without its tag, or only the last part of that. The first match counts. */
export type ImageCatalogue = Readonly<Record<string, CatalogueImage>>

const shell: CatalogueImage = { args: ['sh'] }

/** Images that run the tools of this machine. */
export const hostImages: ImageCatalogue = {
  alpine: shell,
  bash: { args: ['bash'] },
  busybox: shell,
  centos: shell,
  debian: shell,
  fedora: shell,
  node: { args: ['node'] },
  // The first process of a PID namespace ends on SIGTERM only if it handles the signal.
  pause: { command: ['sh', '-c', 'trap "exit 0" INT TERM; sleep 2147483647 & wait'] },
  python: { args: ['python3'] },
  ubuntu: shell,
}

export function findInCatalogue(catalogue: ImageCatalogue, image: string): CatalogueImage | undefined {
  const [untagged = ''] = image.split('@', 1)
  const slash = untagged.lastIndexOf('/')
  const colon = untagged.indexOf(':', slash + 1)
  const name = colon === -1 ? untagged : untagged.slice(0, colon)
  for (const key of [image, name, name.slice(slash + 1)]) {
    if (Object.hasOwn(catalogue, key)) return catalogue[key]
  }
  return undefined
}
