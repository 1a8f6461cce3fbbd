import { setTimeout as sleep } from 'node:timers/promises'
import { isProjectError } from '@coxswain/project/files'
import { formatReference, type ImageReference, parseReference } from '@coxswain/project/image'
import {
  attachDocument,
  findCredentials,
  type Image,
  type ImageSource,
  pushImage,
  RegistryConnection,
  Repository,
} from '@coxswain/project/node/images'
import { CommandError } from '../exit.ts'

/** The registries that a command talks to, with one connection each. */
export class Registries implements Disposable {
  readonly #insecure: ReadonlySet<string>
  readonly #connections = new Map<string, RegistryConnection>()

  constructor(insecure: readonly string[]) {
    this.#insecure = new Set(insecure)
  }

  [Symbol.dispose](): void {
    for (const connection of this.#connections.values()) connection[Symbol.dispose]()
  }

  /** Opens an image for reading. */
  async open(reference: ImageReference): Promise<ImageSource> {
    return await this.#repository(reference).open(reference)
  }

  /** Pushes an image under all names, says on standard error what was sent, and prints the names with the digest. */
  async push(image: Image, tags: readonly ImageReference[], sbom?: Uint8Array): Promise<void> {
    const groups = Map.groupBy(tags, ({ registry, repository }) => `${registry}/${repository}`)
    for (const [name, group] of groups) {
      const repository = this.#repository(group[0]!)
      const onBlob = (
        { digest, size }: { readonly digest: string; readonly size: number },
        outcome: string,
      ) => process.stderr.write(`${name}: ${digest.slice(0, 19)} ${outcome}, ${formatSize(size)}\n`)
      await pushImage(image, repository, { tags: group, onBlob })
      if (sbom !== undefined) await attachDocument(repository, image.root, sbom)
    }
    for (const tag of tags)
      process.stdout.write(`${formatReference({ ...tag, digest: image.root.digest })}\n`)
  }

  #repository({ registry, repository }: ImageReference): Repository {
    const present = this.#connections.get(registry)
    const connection =
      present ??
      new RegistryConnection({
        registry,
        insecure: this.#insecure.has(registry),
        credentials: () => findCredentials(registry, process.env),
        environment: process.env,
        sleep: milliseconds => sleep(milliseconds),
      })
    if (present === undefined) this.#connections.set(registry, connection)
    return new Repository(connection, repository)
  }
}

/** Names that can be pushed to. */
export function parseTags(names: readonly string[]): ImageReference[] {
  return names.map(name => {
    const reference = parseReference(name)
    if (reference.digest !== undefined)
      throw new CommandError(`${name}: the digest is what comes out; name a tag, or nothing`, { exitCode: 2 })
    return reference
  })
}

export function formatSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`
  if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(1)} KiB`
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`
}

/** Ends the command with one line for what is the user's to solve. */
export async function explained<T>(action: () => Promise<T>): Promise<T> {
  try {
    return await action()
  } catch (error) {
    if (!isProjectError(error)) throw error
    throw new CommandError(error.message, { exitCode: error.code === 'BadReference' ? 2 : 1, cause: error })
  }
}
