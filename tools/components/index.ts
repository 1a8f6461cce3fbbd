/**
 * The real components that the suites beyond `npm test` run against. Each is fetched or built on first use into
 * `.cache/bin`, beside whatever the machine has; one that cannot be had is a failure, never a skip.
 * @module
 */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installDebianProgram, unpackDebianProgram } from './debian.ts'
import { buildGoProgram } from './go-program.ts'
import { buildKubernetesProgram } from './kubernetes.ts'

export const cacheFolder: string = fileURLToPath(new URL('../../.cache', import.meta.url))

type Log = (line: string) => void

const installers = {
  'kubectl-1.20': () =>
    unpackDebianProgram({
      cache: cacheFolder,
      package: 'kubernetes-client',
      path: 'usr/bin/kubectl',
      name: 'kubectl-1.20',
    }),
  'kubectl-1.36': (log: Log) => buildKubernetesProgram({ cache: cacheFolder, program: 'kubectl', log }),
  'kube-apiserver-1.36': (log: Log) =>
    buildKubernetesProgram({ cache: cacheFolder, program: 'kube-apiserver', log }),
  'kube-controller-manager-1.36': (log: Log) =>
    buildKubernetesProgram({ cache: cacheFolder, program: 'kube-controller-manager', log }),
  'kube-scheduler-1.36': (log: Log) =>
    buildKubernetesProgram({ cache: cacheFolder, program: 'kube-scheduler', log }),
  'helm-4': (log: Log) =>
    buildGoProgram({
      cache: cacheFolder,
      module: 'helm.sh/helm/v4',
      version: 'v4.3.1',
      path: 'cmd/helm',
      name: 'helm-4',
      log,
    }),
  'controller-gen': (log: Log) =>
    buildGoProgram({
      cache: cacheFolder,
      module: 'sigs.k8s.io/controller-tools',
      version: 'v0.23.0',
      path: 'cmd/controller-gen',
      name: 'controller-gen',
      log,
    }),
  // 5.8.3 builds the same texts, and needs a newer Go.
  'kustomize-5.8': (log: Log) =>
    buildGoProgram({
      cache: cacheFolder,
      module: 'sigs.k8s.io/kustomize/kustomize/v5',
      version: 'v5.8.2',
      name: 'kustomize-5.8',
      log,
    }),
  'etcd-3.4': () =>
    unpackDebianProgram({
      cache: cacheFolder,
      package: 'etcd-server',
      path: 'usr/bin/etcd',
      name: 'etcd-3.4',
    }),
  'etcd-3.6': (log: Log) =>
    buildGoProgram({
      cache: cacheFolder,
      module: 'go.etcd.io/etcd/server/v3',
      version: 'v3.6.16',
      name: 'etcd-3.6',
      log,
    }),
  nginx: () => installDebianProgram('nginx-light', 'nginx'),
} satisfies Record<string, (log: Log) => Promise<string>>

export type ComponentName = keyof typeof installers

export const componentNames: readonly ComponentName[] = Object.keys(installers) as ComponentName[]

/** Where `ensureComponent` puts a component that lives in the cache. */
export const componentPath = (name: ComponentName): string => join(cacheFolder, 'bin', name)

/** Gives the path of the component, fetching or building it when it is not there yet. */
export function ensureComponent(name: ComponentName, log: Log = () => {}): Promise<string> {
  return installers[name](log)
}
