import { decodeText } from '@coxswain/kit'
import { buildFailed, KustomizeError } from '../errors.ts'
import type { KustomizeFiles } from '../files.ts'
import { baseName, cleanPath, folderName, isInside, joinPath } from './paths.ts'

/** The most folders between the root of a build and the deepest base. */
const maxDepth = 100
const maxFileBytes = 16 * 1024 * 1024

/** Whether files may be outside of the folder of the kustomization. */
export type LoadRestrictions = 'rootOnly' | 'none'

/** Reads files as a kustomization sees them: below its folder, unless restrictions are off. */
export class Loader {
  readonly root: string
  readonly #files: KustomizeFiles
  readonly #restrictions: LoadRestrictions
  readonly #referrer: Loader | undefined
  readonly #depth: number

  private constructor(
    root: string,
    parent: { files: KustomizeFiles; restrictions: LoadRestrictions; referrer?: Loader },
  ) {
    this.root = root
    this.#files = parent.files
    this.#restrictions = parent.restrictions
    this.#referrer = parent.referrer
    this.#depth = parent.referrer === undefined ? 1 : parent.referrer.#depth + 1
    if (this.#depth > maxDepth)
      throw new KustomizeError('TooLarge', `bases are nested more than ${maxDepth} deep`)
  }

  /** The loader of the folder that is built. */
  static atRoot(folder: string, files: KustomizeFiles, restrictions: LoadRestrictions): Loader {
    refuseRemote(folder)
    return new Loader(confirmFolder(files, folder), { files, restrictions })
  }

  /** The loader of a base or component. */
  at(path: string): Loader {
    if (path === '') throw buildFailed('new root cannot be empty')
    refuseRemote(path)
    if (path.startsWith('/')) throw buildFailed(`new root '${path}' cannot be absolute`)
    if (path.split('/').some(part => part !== '.' && part !== '..' && part.includes('..')))
      throw buildFailed(
        `path "${path}" is ambiguous: resolves to "${cleanPath(path)}" after normalization; check for YAML indentation errors in your kustomization file`,
      )
    const root = confirmFolder(this.#files, joinPath(this.root, path))
    this.#refuseCycle(root)
    return new Loader(root, { files: this.#files, restrictions: this.#restrictions, referrer: this })
  }

  #refuseCycle(candidate: string): void {
    for (let loader: Loader | undefined = this; loader !== undefined; loader = loader.#referrer) {
      if (isInside(loader.root, candidate))
        throw buildFailed(
          `cycle detected: candidate root '${candidate}' contains visited root '${loader.root}'`,
        )
    }
  }

  load(path: string): Uint8Array {
    refuseRemoteFile(path)
    const absolute = path.startsWith('/') ? cleanPath(path) : joinPath(this.root, path)
    const real = realPathOf(this.#files, absolute)
    if (this.#restrictions === 'rootOnly') {
      if (this.#files.readFolder(real) !== undefined)
        throw buildFailed(`'${absolute}' must resolve to a file`)
      if (!isInside(folderName(real), this.root))
        throw buildFailed(`security; file '${absolute}' is not in or below '${this.root}'`)
    }
    const bytes = this.#files.readFile(real)
    if (bytes === undefined) throw buildFailed(`open ${absolute}: no such file or directory`)
    if (bytes.length > maxFileBytes)
      throw new KustomizeError('TooLarge', `${absolute} has more than ${maxFileBytes} bytes`)
    return bytes
  }

  loadText(path: string): string {
    return decodeText(this.load(path))
  }

  /** The file, or undefined when it cannot be read. */
  tryLoad(name: string): Uint8Array | undefined {
    return this.#files.readFile(realPathOf(this.#files, joinPath(this.root, name)))
  }

  get folder(): string {
    return baseName(this.root)
  }
}

function realPathOf(files: KustomizeFiles, path: string): string {
  return files.realPath?.(path) ?? path
}

function confirmFolder(files: KustomizeFiles, folder: string): string {
  const real = realPathOf(files, cleanPath(folder))
  if (files.readFolder(real) === undefined) {
    const problem = files.readFile(real) === undefined ? 'no such file or directory' : 'it is a file'
    throw buildFailed(`must build at directory: '${folder}': ${problem}`)
  }
  return real
}

const remoteFile = /^https?:/i

function refuseRemoteFile(path: string): void {
  if (remoteFile.test(path))
    throw new KustomizeError(
      'NotSupported',
      `"${path}" is not supported: files are not fetched over the network. Download it, and name the local copy`,
    )
}

/** A repository: by a scheme, a user name or GitHub's host, with at least an owner and a name. */
const repository = /^(?:git::)?(?:(?:ssh|https?|file):\/\/|[a-zA-Z][a-zA-Z0-9-]*@|github\.com[/:])/i

function refuseRemote(path: string): void {
  if (repository.test(path))
    throw new KustomizeError(
      'NotSupported',
      `"${path}" is not supported: repositories are not fetched over the network. Clone it, and name the local folder`,
    )
}
