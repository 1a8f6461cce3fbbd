import {
  chmodSync,
  chownSync,
  closeSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  type Stats,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, normalize } from 'node:path'
import type { VolumeMountSpec } from '../container-runtime.ts'
import { ConfigError } from '../kubelet/environment.ts'
import { locateVolume } from './mounts.ts'

/** A mount in a container's root. */
export interface Bind {
  /** A path of this machine. */
  readonly source: string
  /** A path in the container, without symbolic links. */
  readonly target: string
  readonly readOnly: boolean
  /** The container is started without it when its source has been deleted in the meantime. */
  readonly isOptional: boolean
}

export interface ContainerRootOptions {
  /** An empty directory for the root and its parts. */
  readonly directory: string
  readonly container: string
  readonly mounts: readonly VolumeMountSpec[]
  /** Files of this machine that are mounted at other paths, unless a volume is mounted there. */
  readonly files: ReadonlyMap<string, string>
  /** The termination message file, and its path in the container. */
  readonly terminationLog: { readonly path: string; readonly source: string }
  /** Created if missing. */
  readonly workingDir: string
  /** The container shares the machine's PID namespace. */
  readonly sharesProcesses: boolean
  volumePath(volume: string): string | undefined
}

/** What a path of the container is: a directory of its own, a path of this machine, or a volume. */
interface Place extends Pick<Bind, 'source' | 'readOnly'> {
  readonly type: 'own' | 'machine' | 'volume'
}

const devices = ['null', 'zero', 'full', 'random', 'urandom', 'tty']
const deviceLinks: Readonly<Record<string, string>> = {
  fd: '/proc/self/fd',
  stdin: '/proc/self/fd/0',
  stdout: '/proc/self/fd/1',
  stderr: '/proc/self/fd/2',
  ptmx: 'pts/ptmx',
}
/** The most entries of a directory that is mounted entry by entry. */
const maxEntries = 2_000
/** The most symbolic links in a path, the kernel's limit. */
const maxLinks = 40

/**
 * The root of a container with a mount namespace: this machine's, in which each volume is mounted at its path. Mount points that this
 * machine lacks are never created on it. The directory in which one is missing is replaced by a directory of the container's own, in
 * which the machine's entries are mounted one by one, beside the new mount point:
 *
 *   /        its own directory, with /etc, /home, ... of this machine and its own /dev
 *   /run     its own directory, if /run/secrets is missing: with everything in /run of this machine
 *   /run/secrets/kubernetes.io/serviceaccount     the volume
 *
 * Returns the mounts, outer ones first. Symbolic links are followed as the container sees them.
 * @throws ConfigError
 */
export function buildContainerRoot(options: ContainerRootOptions): Bind[] {
  return new RootBuilder(options).build()
}

class RootBuilder {
  readonly #options: ContainerRootOptions
  readonly #places = new Map<string, Place>()
  #count = 0

  constructor(options: ContainerRootOptions) {
    this.#options = options
  }

  build(): Bind[] {
    const { mounts, files, terminationLog, workingDir, directory } = this.#options
    const root = join(directory, 'root')
    this.#replace('/', root, ['proc', 'dev'])
    this.#makeSystemDirectories(root)
    for (const mount of mounts.toSorted((a, b) => a.mountPath.length - b.mountPath.length)) this.#mount(mount)
    this.#add(this.#resolve(terminationLog.path), volume(terminationLog.source))
    for (const [path, source] of files) {
      const target = this.#resolve(path)
      if (this.#placeOf(target).type === 'volume') continue
      this.#add(target, volume(source))
    }
    this.#ensure(this.#resolve(workingDir), { isDirectory: true })
    const depth = (path: string) => path.split('/').length
    return [...this.#places]
      .filter(([target]) => target !== '/')
      .map(([target, { source, readOnly, type }]) => ({
        source,
        target,
        readOnly,
        isOptional: type === 'machine',
      }))
      .sort((a, b) => depth(a.target) - depth(b.target))
  }

  #makeSystemDirectories(root: string): void {
    for (const name of ['proc', 'dev', 'dev/pts', 'dev/shm']) mkdirSync(join(root, name))
    chmodSync(join(root, 'dev/shm'), 0o1777)
    if (this.#options.sharesProcesses) this.#places.set('/proc', machine('/proc'))
    for (const name of devices) {
      const stat = statSync(`/dev/${name}`, { throwIfNoEntry: false })
      if (!stat) continue
      makeMountPoint(join(root, 'dev', name), stat)
      this.#places.set(`/dev/${name}`, machine(`/dev/${name}`))
    }
    for (const [name, target] of Object.entries(deviceLinks)) symlinkSync(target, join(root, 'dev', name))
  }

  #mount(mount: VolumeMountSpec): void {
    const { mountPath, readOnly } = mount
    const source = realpathSync(locateVolume(mount, this.#options))
    const target = this.#resolve(mountPath)
    if (target === '/') throw new ConfigError('a volume cannot be mounted at /')
    this.#add(target, { type: 'volume', source, readOnly })
  }

  #add(target: string, place: Place): void {
    this.#ensure(target, { isDirectory: statSync(place.source).isDirectory() })
    this.#places.set(target, place)
  }

  /** Creates the missing part of a path without symbolic links. */
  #ensure(path: string, { isDirectory }: { readonly isDirectory: boolean }): void {
    const missing: string[] = []
    let existing = path
    let stat = this.#stat(existing)
    for (; !stat; stat = this.#stat(existing)) {
      missing.unshift(basename(existing))
      existing = dirname(existing)
    }
    const mustBeDirectory = missing.length > 0 || isDirectory
    if (stat.isDirectory() !== mustBeDirectory)
      throw new ConfigError(
        `cannot mount at ${path}: ${existing} is ${stat.isDirectory() ? 'a' : 'not a'} directory`,
      )
    if (missing.length === 0) return
    if (this.#placeOf(existing).type === 'machine')
      this.#replace(existing, join(this.#options.directory, `directory-${this.#count++}`), [])
    let place = this.#locate(existing)
    const last = missing.pop()!
    for (const name of missing) {
      place = join(place, name)
      mkdirSync(place)
    }
    if (isDirectory) mkdirSync(join(place, last))
    else closeSync(openSync(join(place, last), 'wx', 0o644))
  }

  /** Puts a directory of the container's own at a path, with this machine's entries in it. */
  #replace(path: string, own: string, except: readonly string[]): void {
    const source = path === '/' ? '/' : this.#locate(path)
    const names = readdirSync(source)
    if (names.length > maxEntries)
      throw new ConfigError(`cannot mount in ${path}, which has more than ${maxEntries} entries`)
    mkdirSync(own)
    for (const name of names) {
      if (except.includes(name)) continue
      const [from, to, target] = [join(source, name), join(own, name), join(path, name)]
      const stat = tryStat(from)
      if (stat?.isSymbolicLink()) symlinkSync(readlinkSync(from), to)
      else if (stat) {
        makeMountPoint(to, stat)
        if (!this.#places.has(target)) this.#places.set(target, machine(from))
      }
    }
    const { mode, uid, gid } = statSync(source)
    chmodSync(own, mode & 0o7777)
    if (process.getuid?.() === 0) chownSync(own, uid, gid)
    this.#places.set(path, { type: 'own', source: own, readOnly: false })
  }

  /** Resolves symbolic links in a path, as the container sees them. A missing tail is kept. */
  #resolve(path: string): string {
    let links = 0
    let resolved = '/'
    const left = normalize(`/${path}`).split('/').reverse()
    for (let name = left.pop(); name !== undefined; name = left.pop()) {
      if (name === '' || name === '.') continue
      if (name === '..') {
        resolved = dirname(resolved)
        continue
      }
      const next = join(resolved, name)
      if (!this.#stat(next)?.isSymbolicLink()) {
        resolved = next
        continue
      }
      if (++links > maxLinks) throw new ConfigError(`cannot mount at ${path}: too many symbolic links`)
      const link = readlinkSync(this.#locate(next))
      if (link.startsWith('/')) resolved = '/'
      for (const part of link.split('/').reverse()) left.push(part)
    }
    return resolved
  }

  #stat(path: string): Stats | undefined {
    return tryStat(this.#locate(path))
  }

  #locate(path: string): string {
    const [at, { source }] = this.#find(path)
    return join(source, path.slice(at.length))
  }

  #placeOf(path: string): Place {
    return this.#find(path)[1]
  }

  /** The innermost mount around a path. */
  #find(path: string): [string, Place] {
    for (let at = path; ; at = dirname(at)) {
      const place = this.#places.get(at)
      if (place) return [at, place]
    }
  }
}

function machine(source: string): Place {
  return { type: 'machine', source, readOnly: false }
}

function volume(source: string): Place {
  return { type: 'volume', source, readOnly: false }
}

function makeMountPoint(path: string, stat: Stats): void {
  if (stat.isDirectory()) mkdirSync(path)
  else closeSync(openSync(path, 'wx', 0o644))
}

/** Undefined also for paths that this user may not read. */
function tryStat(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

/** The mounts as `mount --all --fstab` reads them. */
export function writeMountTable(path: string, root: string, binds: readonly Bind[]): void {
  const isRoot = process.getuid?.() === 0
  const lines = binds.map(({ source, target, readOnly, isOptional }) => {
    const options = [
      ...(readOnly ? ['bind', 'ro', ...(isRoot ? [] : lockedOptions(source))] : ['rbind']),
      ...(isOptional ? ['nofail'] : []),
    ]
    return `${escapePath(source)} ${escapePath(join(root, target))} none ${options.join()} 0 0\n`
  })
  writeFileSync(path, lines.join(''))
}

/** In a user namespace a mount keeps its restrictions: the options have to be repeated when it is remounted read-only. */
function lockedOptions(path: string): string[] {
  let [found, options] = ['', '']
  for (const line of readFileSync('/proc/self/mountinfo', 'utf8').split('\n')) {
    const [, , , , at = '', own = ''] = line.split(' ')
    const point = at.replaceAll(/\\(\d{3})/g, (_, code: string) =>
      String.fromCharCode(Number.parseInt(code, 8)),
    )
    const isAround = path === point || path.startsWith(point === '/' ? '/' : `${point}/`)
    if (isAround && point.length >= found.length) [found, options] = [point, own]
  }
  return options.split(',').filter(option => ['nosuid', 'nodev', 'noexec'].includes(option))
}

function escapePath(path: string): string {
  return path.replaceAll(/[\s\\#]/g, char => `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`)
}
