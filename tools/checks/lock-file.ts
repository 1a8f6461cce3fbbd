/** The lock file names no host, so it installs the same from any registry; and it is complete, so that `npm ci` takes it. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Check } from './finding.ts'

interface LockFile {
  readonly packages?: Readonly<Record<string, LockedPackage>>
}

interface LockedPackage {
  readonly resolved?: string
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

export const lockFile: Check = {
  name: 'lock-file',
  async run(root) {
    const file = 'package-lock.json'
    const { packages = {} } = JSON.parse(await readFile(join(root, file), 'utf8')) as LockFile
    const hosts = Object.entries(packages)
      .filter(([, { resolved }]) => resolved !== undefined && /^[a-z+]+:/i.test(resolved))
      .map(([name, { resolved }]) => ({ file, message: `${name} is resolved to ${resolved}` }))
    const missing = Object.entries(packages).flatMap(([name, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies)
        .filter(
          optional => !packages[`${name}/node_modules/${optional}`] && !packages[`node_modules/${optional}`],
        )
        .map(optional => ({
          file,
          message: `${optional}, an option of ${name}, is missing: npm ci refuses that`,
        })),
    )
    return [...hosts, ...missing]
  },
}
