// JavaScript, like all that runs before types can be stripped.
import { closeSync, fstatSync, openSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { getCompileCacheDir, registerHooks, stripTypeScriptTypes } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/*
 * One file with all modules of the command: what their imports resolve to and their sources, types stripped. Starting from
 * it costs one read and a stat of each module; to resolve, read and strip several hundred of them one by one costs more
 * than everything else that a start does. Node's compile cache, beside which it lies, still has their compiled code.
 *
 * It is used only if nothing it was made of has changed since: modules, package.json files, what npm installed.
 * Otherwise modules are loaded as ever, and the file is written anew when the process ends.
 *
 *     { version, files: [[path, mtime, size]], modules: [[url, start, end]], imports: [{ specifier: module }] } \n sources
 */
const version = 1
/** What is loaded later than this, in milliseconds after the start, comes from its own file. */
const startTime = 10_000

/** Loads modules below `base`, and those of `node_modules`, out of the cache, or into it. */
export function useModuleCache(base) {
  const directory = getCompileCacheDir()
  if (directory === undefined) return
  const file = join(directory, `coxswain-${hash(base)}.modules`)
  const cache = new ModuleCache(base, readCache(file))
  registerHooks({
    resolve: (specifier, context, next) => cache.resolve(specifier, context, next),
    load: (url, context, next) => cache.load(url, context, next),
  })
  setTimeout(() => cache.release(), startTime).unref()
  process.on('exit', () => cache.write(file))
}

class ModuleCache {
  #base
  /** What was read: positions of modules by their URLs, and the bytes they are in. */
  #index
  #known
  #sources
  /** How many of them have not been loaded. */
  #left
  /** What is new: by URL, and by the URL of the importing module. */
  #modules = new Map()
  #imports = new Map()

  constructor(base, read) {
    this.#base = base
    this.#index = read?.index ?? { files: [], modules: [], imports: [] }
    this.#known = new Map(this.#index.modules.map(([url], position) => [url, position]))
    this.#sources = read?.sources
    this.#left = this.#known.size
  }

  resolve(specifier, context, next) {
    const { parentURL, conditions } = context
    if (parentURL === undefined || specifier.startsWith('node:')) return next(specifier, context)
    const imports = this.#index.imports[this.#known.get(parentURL)]
    const position = imports?.[specifier]
    if (position !== undefined && this.#sources !== undefined && !conditions.includes('require')) {
      return { url: this.#index.modules[position][0], format: 'module', shortCircuit: true }
    }
    const resolved = next(specifier, context)
    if (this.#isKept(parentURL) && this.#isKept(resolved.url) && !conditions.includes('require')) {
      if (!this.#imports.has(parentURL)) this.#imports.set(parentURL, new Map())
      this.#imports.get(parentURL).set(specifier, resolved.url)
    }
    return resolved
  }

  load(url, context, next) {
    const known = this.#known.get(url)
    if (known !== undefined && this.#sources !== undefined) {
      const [, start, end] = this.#index.modules[known]
      const source = this.#sources.utf8Slice(start, end)
      if (--this.#left === 0) this.release()
      return { format: 'module', source, shortCircuit: true }
    }
    if (known !== undefined || !this.#isKept(url)) return next(url, context)
    const path = fileURLToPath(url)
    const { mtimeMs, size } = statSync(path)
    const loaded = next(url, context)
    if (loaded.format !== 'module' && loaded.format !== 'module-typescript') return loaded
    const text = typeof loaded.source === 'string' ? loaded.source : Buffer.from(loaded.source).toString()
    const source = loaded.format === 'module' ? text : stripTypes(text, url)
    this.#modules.set(url, { source, file: [path, mtimeMs, size] })
    return { ...loaded, format: 'module', source }
  }

  /** Gives the memory back; a module is loaded once, so the last one ends the need for it. */
  release() {
    this.#sources = undefined
  }

  /** Adds what is new to what was read. A cache that cannot be written is one that is not there. */
  write(file) {
    if (this.#modules.size === 0) return
    try {
      const old = readCache(file)
      const bytes = old === undefined ? [] : [old.sources]
      const index = old?.index ?? { version, files: [], modules: [], imports: [] }
      const positions = new Map(index.modules.map(([url], position) => [url, position]))
      const files = new Map(index.files.map(entry => [entry[0], entry]))
      let length = old?.sources.length ?? 0
      for (const [url, { source, file: entry }] of this.#modules) {
        if (positions.has(url)) continue
        const chunk = Buffer.from(source)
        positions.set(url, index.modules.length)
        index.modules.push([url, length, length + chunk.length])
        index.imports.push({})
        bytes.push(chunk)
        length += chunk.length
        for (const one of [entry, ...manifests(dirname(entry[0]), files)]) files.set(one[0], one)
      }
      for (const [parent, imports] of this.#imports) {
        const parentImports = index.imports[positions.get(parent)]
        for (const [specifier, url] of imports) {
          const position = positions.get(url)
          if (parentImports !== undefined && position !== undefined) parentImports[specifier] = position
        }
      }
      const head = Buffer.from(`${JSON.stringify({ ...index, files: [...files.values()] })}\n`)
      const temporary = `${file}.${process.pid}`
      writeFileSync(temporary, Buffer.concat([head, ...bytes]), { mode: 0o600 })
      renameSync(temporary, file)
    } catch {}
  }

  #isKept(url) {
    return url.startsWith('file:') && (url.startsWith(this.#base) || url.includes('/node_modules/'))
  }
}

/** The cache in a file, if it is this user's own and still true. */
function readCache(file) {
  try {
    const descriptor = openSync(file)
    let bytes
    try {
      const { uid, mode } = fstatSync(descriptor)
      if ((mode & 0o022) !== 0 || (process.getuid !== undefined && uid !== process.getuid())) return undefined
      bytes = readFileSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
    const end = bytes.indexOf(10)
    const index = JSON.parse(bytes.utf8Slice(0, end))
    const sources = bytes.subarray(end + 1)
    if (index.version !== version || index.modules.at(-1)?.[2] !== sources.length) return undefined
    for (const [path, mtime, size] of index.files) {
      const found = statSync(path, { throwIfNoEntry: false })
      if (found?.mtimeMs !== mtime || found.size !== size) return undefined
    }
    return { index, sources }
  } catch {
    return undefined
  }
}

/** What decides how imports below a folder resolve: package.json files, and npm's lists of what is installed. */
function manifests(folder, known) {
  const found = []
  for (let at = folder; ; at = dirname(at)) {
    for (const name of ['package.json', 'node_modules/.package-lock.json']) {
      const path = join(at, name)
      if (known.has(path)) return found // and so is all that is above
      const stat = statSync(path, { throwIfNoEntry: false })
      if (stat !== undefined) found.push([path, stat.mtimeMs, stat.size])
    }
    if (at === dirname(at)) return found
  }
}

/**
 * As Node itself does to run TypeScript, only that it calls it experimental when others do. The result is the same to the
 * byte, so that worker threads, which are without this cache, share the compiled code.
 */
function stripTypes(text, sourceUrl) {
  const { emitWarning } = process
  process.emitWarning = () => {}
  try {
    return stripTypeScriptTypes(text, { sourceUrl })
  } finally {
    process.emitWarning = emitWarning
  }
}

/** FNV-1a: enough to tell one checkout's file from another's. */
function hash(text) {
  let value = 0x811c9dc5
  for (const character of text) value = Math.imul(value ^ character.codePointAt(0), 0x01000193)
  return (value >>> 0).toString(16)
}
