import { join } from 'node:path'
import type { Command } from 'commander'
import { CommandError } from '../exit.ts'
import { kubernetesVersion as served } from '../version.ts'
import { writeAssets } from './assets.ts'

export interface UseOptions {
  readonly binDir: string
  readonly print: 'overview' | 'path' | 'env'
}

/** Writes the stand-ins where setup-envtest would put the real programs, and prints where, as it does. */
export function runUse(version: string | undefined, { binDir, print }: UseOptions, program: Command): void {
  if (version !== undefined && !isServed(version))
    throw new CommandError(
      `version ${version} is not served: this server behaves as Kubernetes ${served}; leave the version out`,
    )
  const arch = process.arch === 'x64' ? 'amd64' : process.arch
  const path = writeAssets(join(binDir, 'k8s', `${served}-${process.platform}-${arch}`), program)
  const texts = {
    path,
    env: `export KUBEBUILDER_ASSETS='${path}'\n`,
    overview: `Version: ${served}\nOS/Arch: ${process.platform}/${arch}\nPath: ${path}\n`,
  }
  process.stdout.write(texts[print])
}

/** The selectors of setup-envtest: `1.36.4`, `1.36`, `1.36.x`, `1.36.x!`, `~1.36.1`, `1.x`, `latest`. */
function isServed(selector: string): boolean {
  const version = /^([~<]?=?v?)(\d+)(?:\.(\d+|x|\*)(?:\.(\d+|x|\*))?)?!?$/.exec(selector)
  if (selector === 'latest' || selector === 'latest-on-disk') return true
  if (!version) return false
  const [major, minor, patch] = served.split('.')
  const [, , wantedMajor, wantedMinor = 'x', wantedPatch = 'x'] = version
  const isAny = (part: string) => part === 'x' || part === '*'
  return (
    wantedMajor === major &&
    (isAny(wantedMinor) || wantedMinor === minor) &&
    (isAny(wantedPatch) || Number(wantedPatch) <= Number(patch))
  )
}
