export interface ManifestFile {
  readonly path: string
  readonly text: string
}

/** The most files that one folder may hold: more is a wrong path rather than manifests. */
const fileLimit = 10_000
const manifestName = /\.(ya?ml|json)$/
const kustomizationName = /^(kustomization\.ya?ml|Kustomization)$/

/**
 * The text of a file, or of all manifests in and below a folder, by name. A folder with a kustomization is what it builds, and what is
 * below is read by it alone. Hidden folders and `node_modules` are not manifests.
 */
export async function readFiles(path: string | URL): Promise<readonly ManifestFile[]> {
  if (!globalThis.process?.versions?.node)
    throw new Error('manifests can be read from files on Node.js only: pass their text')
  const { readdir, readFile, stat } = await import('node:fs/promises')
  const { join, resolve } = await import('node:path')
  const { fileURLToPath } = await import('node:url')
  const root = path instanceof URL ? fileURLToPath(path) : path
  const found: string[] = []
  const built: ManifestFile[] = []
  const walk = async (folder: string): Promise<void> => {
    const entries = await readdir(folder, { withFileTypes: true })
    if (entries.some(entry => kustomizationName.test(entry.name))) {
      built.push({ path: folder, text: await buildFolder(resolve(folder)) })
      return
    }
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const child = join(folder, entry.name)
      if (entry.isDirectory()) {
        if (!entry.name.startsWith('.') && entry.name !== 'node_modules') await walk(child)
        continue
      }
      if (manifestName.test(entry.name)) found.push(child)
      if (found.length > fileLimit) throw new Error(`${root}: more than ${fileLimit} manifests`)
    }
  }
  const status = await stat(root).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'ENOENT') throw cause
    throw new Error(`${resolve(root)}: no such file or folder`, { cause })
  })
  if (status.isDirectory()) await walk(root)
  else found.push(root)
  if (found.length + built.length === 0) throw new Error(`${root}: no .yaml, .yml or .json files`)
  const read = found.map(async each => ({ path: each, text: await readFile(each, 'utf8') }))
  return [...(await Promise.all(read)), ...built].sort((a, b) => (a.path < b.path ? -1 : 1))
}

async function buildFolder(folder: string): Promise<string> {
  const { buildKustomization } = await import('@coxswain/kustomize')
  const { diskFiles } = await import('@coxswain/kustomize/node')
  try {
    return buildKustomization(folder, diskFiles()).text
  } catch (error) {
    throw new Error(`${folder}: ${(error as Error).message}`, { cause: error })
  }
}
