/**
 * Builds programs of Kubernetes from source through the Go module proxy, without a clone of the repository.
 *
 * The module `k8s.io/kubernetes` replaces its staging modules by folders that the proxy does not carry. A module of
 * ours that requires it therefore repeats each of those replace lines with the version the staging module was
 * published under: `k8s.io/api => k8s.io/api v0.36.4`.
 */
import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { versionInfo } from '../../packages/apiserver/src/discovery/version.ts'
import { goEnvironment } from './go-program.ts'
import { runOrFail } from './process.ts'

/** The Kubernetes release everything here is measured against. */
export const kubernetesVersion = '1.36.4'

/** Programs that are not under `cmd/`, by their package; a package of tests becomes a program that runs them. */
const packages = {
  agnhost: 'k8s.io/kubernetes/test/images/agnhost',
  'e2e.test': 'k8s.io/kubernetes/test/e2e',
  ginkgo: 'github.com/onsi/ginkgo/v2/ginkgo',
  nonewprivs: 'k8s.io/kubernetes/test/images/nonewprivs',
} as const

export const kubernetesPrograms = [
  'kubectl',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-proxy',
  'kube-scheduler',
  'kubeadm',
  'kubelet',
  'agnhost',
  'e2e.test',
  'ginkgo',
  'nonewprivs',
] as const

export type KubernetesProgram = (typeof kubernetesPrograms)[number]

export interface BuildOptions {
  /** The folder that holds downloads and results. */
  readonly cache: string
  readonly program: KubernetesProgram
  readonly version?: string
  readonly log?: (line: string) => void
}

/** Gives the path of the program, building it only when it is not there yet. */
export async function buildKubernetesProgram(options: BuildOptions): Promise<string> {
  const { cache, program, version = kubernetesVersion, log = () => {} } = options
  const [, minor] = version.split('.')
  const target = join(cache, 'bin', `${program}-1.${minor}`)
  if (existsSync(target)) return target

  const go = goEnvironment()
  const module = join(cache, 'build', `kubernetes-${version}`)
  await mkdir(module, { recursive: true })
  await mkdir(join(cache, 'bin'), { recursive: true })
  log(`downloading k8s.io/kubernetes v${version}`)
  const upstream = await readFile((await downloadKubernetes(version)).GoMod, 'utf8')
  await writeFile(join(module, 'go.mod'), moduleRequiring(upstream, version))
  log(`building ${program} ${version}`)
  const partial = `${target}.partial`
  await runOrFail(
    'go',
    [
      ...(program === 'e2e.test' ? ['test', '-c'] : ['build']),
      '-mod=mod',
      '-trimpath',
      '-ldflags',
      versionFlags(version),
      '-o',
      partial,
      packageOf(program),
    ],
    { cwd: module, env: go },
  )
  await rename(partial, target)
  return target
}

/** The folder of k8s.io/kubernetes in Go's module cache. */
export async function kubernetesSource(version: string = kubernetesVersion): Promise<string> {
  return (await downloadKubernetes(version)).Dir
}

async function downloadKubernetes(
  version: string,
): Promise<{ readonly GoMod: string; readonly Dir: string }> {
  const module = `k8s.io/kubernetes@v${version}`
  return JSON.parse(
    await runOrFail('go', ['mod', 'download', '-json', module], { cwd: tmpdir(), env: goEnvironment() }),
  )
}

function packageOf(program: KubernetesProgram): string {
  return program in packages ? packages[program as keyof typeof packages] : `k8s.io/kubernetes/cmd/${program}`
}

/** Our go.mod: the upstream one's Go version and requirements, with each staging folder replaced by its published module. */
export function moduleRequiring(upstream: string, version: string): string {
  const staging = [...upstream.matchAll(/^\s*(k8s\.io\/\S+) => \.\/staging\/src\/\S+$/gm)].map(
    match => match[1]!,
  )
  if (staging.length === 0)
    throw new Error(`k8s.io/kubernetes ${version} names no staging modules: its layout has changed`)
  const published = version.replace(/^1\./, 'v0.')
  const go = /^go (\S+)$/m.exec(upstream)?.[1]
  const requirements = [...upstream.matchAll(/^\s+(\S+ v\S+)(?: \/\/ indirect)?$/gm)]
    .map(match => match[1]!)
    .filter(requirement => !staging.includes(requirement.split(' ')[0]!))
  return [
    'module coxswain.invalid/kubernetes',
    '',
    ...(go ? [`go ${go}`, ''] : []),
    'require (',
    `\tk8s.io/kubernetes v${version}`,
    ...requirements.map(requirement => `\t${requirement}`),
    ...staging.map(name => `\t${name} ${published}`),
    ')',
    '',
    'replace (',
    ...staging.map(name => `\t${name} => ${name} ${published}`),
    ')',
    '',
  ].join('\n')
}

/** What `kubectl version` and `/version` report comes from the linker. */
export function versionFlags(version: string): string {
  const [major, minor] = version.split('.')
  const facts = {
    gitVersion: `v${version}`,
    gitMajor: major,
    gitMinor: minor,
    gitTreeState: 'clean',
    // The commit of the official build: `kubectl --match-server-version` compares it with the server's.
    ...(`v${version}` === versionInfo.gitVersion && { gitCommit: versionInfo.gitCommit }),
  }
  const packages = ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version']
  const values = packages.flatMap(name =>
    Object.entries(facts).map(([key, value]) => `-X ${name}.${key}=${value}`),
  )
  return ['-s', '-w', ...values].join(' ')
}
