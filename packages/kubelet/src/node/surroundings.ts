import { chownSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import type { ContainerSpec } from '../container-runtime.ts'
import { buildContainerRoot, writeMountTable } from './container-root.ts'
import type { CatalogueImage } from './image-catalogue.ts'
import { createPathMapper, linkMounts } from './mounts.ts'
import { type Isolation, inNamespacesOf, inNewNamespaces } from './namespaces.ts'
import { findFirstProcess } from './process-registry.ts'

/** The environment of a container's processes. */
export interface Surroundings {
  /** In the container. */
  readonly home: string
  readonly workingDir: string
  /** The root of mount paths, as the container sees it. */
  readonly root: string
  mapPaths(text: string): string
  /** Maps a command to how it has to be run here. */
  locate(command: readonly string[]): string[]
  /** The prefix of the container's command, and of an exec command in the namespaces of `leader`. @default none */
  readonly wrap?: (env: Readonly<Record<string, string>>) => readonly string[]
  readonly wrapBeside?: (leader: number, env: Readonly<Record<string, string>>) => readonly string[]
}

export interface SurroundingsOptions {
  readonly spec: ContainerSpec
  readonly image: CatalogueImage
  /** The container's empty directory. */
  readonly home: string
  /** The termination message file. */
  readonly messagePath: string
  volumePath(volume: string): string | undefined
}

export function makeSurroundings(isolation: Isolation, options: SurroundingsOptions): Surroundings {
  return isolation === 'namespaces' ? isolate(options) : linkFiles(options)
}

/** Gives paths that the container writes to its user, where that is another one. */
function giveAway(paths: readonly string[], { user, group }: ContainerSpec): void {
  if (process.getuid?.() !== 0 || (user === undefined && group === undefined)) return
  for (const path of paths) chownSync(path, user ?? 0, group ?? 0)
}

/** The machine's own file system, and a directory with links to volumes. */
function linkFiles({ spec, image, home, messagePath, volumePath }: SurroundingsOptions): Surroundings {
  const { mounts, terminationMessagePath, name: container } = spec
  const root = join(home, 'root')
  const file = { path: terminationMessagePath, target: messagePath }
  linkMounts({ root, container, mounts, file, volumePath })
  giveAway([home, messagePath], spec)
  const mapPaths = createPathMapper(root, [
    ...mounts.map(({ mountPath }) => mountPath),
    terminationMessagePath,
  ])
  const mapped = spec.workingDir === undefined ? undefined : mapPaths(spec.workingDir)
  const isMapped = mapped !== spec.workingDir
  const workingDir =
    mapped === undefined ? (image.root ?? home) : isMapped || !image.root ? mapped : join(image.root, mapped)
  return {
    home,
    workingDir,
    root,
    mapPaths,
    // Containers start in `/`, so `bin/sh` is found from there; these start in a directory of their own.
    locate(command) {
      const [file = '', ...args] = command.map(mapPaths)
      const isRelative = file.includes('/') && !isAbsolute(file)
      const isElsewhere = isRelative && !existsSync(join(workingDir, file))
      return [isElsewhere ? join(image.root ?? '/', file) : file, ...args]
    },
  }
}

/** Namespaces in which volumes are at their mount paths. */
function isolate({ spec, image, home, messagePath, volumePath }: SurroundingsOptions): Surroundings {
  const { mounts, terminationMessagePath, name: container, hostname, sharesProcesses = false } = spec
  writeFileSync(messagePath, '', { mode: 0o666 })
  const workingDir = join(image.root ?? '/', spec.workingDir ?? '')
  const files = new Map<string, string>()
  const directory = join(home, 'files')
  mkdirSync(directory)
  for (const [path, text] of spec.files ?? []) {
    const file = join(directory, String(files.size))
    writeFileSync(file, text, { mode: 0o644 })
    files.set(path, file)
  }
  const binds = buildContainerRoot({
    directory: home,
    container,
    mounts,
    files,
    terminationLog: { path: terminationMessagePath, source: messagePath },
    workingDir,
    sharesProcesses,
    volumePath,
  })
  const root = join(home, 'root')
  const mountTable = join(home, 'mounts')
  writeMountTable(mountTable, root, binds)
  giveAway([home, root, messagePath, ...files.values()], spec)
  const { user, group } = spec
  const setupOf = (env: Readonly<Record<string, string>>) => ({
    workingDir,
    env,
    ...(user !== undefined && { user }),
    ...(group !== undefined && { group }),
  })
  return {
    home: '/',
    workingDir,
    root: '/',
    mapPaths: text => text,
    locate: command => [...command],
    wrap: env =>
      inNewNamespaces({
        ...setupOf(env),
        root,
        mountTable,
        sharesProcesses,
        ...(hostname !== undefined && { hostname }),
      }),
    wrapBeside(leader, env) {
      const pid = findFirstProcess(leader, sharesProcesses ? 'mnt' : 'pid')
      if (pid === undefined) throw new Error('the container has ended')
      return inNamespacesOf(pid, { sharesProcesses }, setupOf(env))
    },
  }
}
