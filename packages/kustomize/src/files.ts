/** What a build reads from: a disk, a map in memory, an archive. Paths are absolute, with `/`. */
export interface KustomizeFiles {
  /** Undefined: no such file. */
  readFile(path: string): Uint8Array | undefined
  /** The names in a folder. Undefined: no such folder. */
  readFolder(path: string): readonly string[] | undefined
  /** The path without symbolic links. @default the path itself */
  realPath?(path: string): string
}

/** Files in memory, by their absolute paths. */
export function memoryFiles(files: ReadonlyMap<string, string | Uint8Array>): KustomizeFiles {
  const folders = new Map<string, Set<string>>([['/', new Set()]])
  for (const path of files.keys()) {
    const parts = path.split('/').filter(part => part !== '')
    let folder = ''
    for (const part of parts) {
      const parent = folder === '' ? '/' : folder
      folders.set(parent, (folders.get(parent) ?? new Set()).add(part))
      folder = `${folder}/${part}`
    }
  }
  return {
    readFile: path => {
      const content = files.get(path)
      return typeof content === 'string' ? new TextEncoder().encode(content) : content
    },
    readFolder: path => {
      const names = folders.get(path)
      return names === undefined ? undefined : [...names]
    },
  }
}
