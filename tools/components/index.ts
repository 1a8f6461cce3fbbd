/**
 * The real components that the suites beyond `npm test` run against. Each is fetched or built on first use into
 * `.cache/bin`, beside whatever the machine has; one that cannot be had is a failure, never a skip.
 * @module
 */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installDebianProgram, unpackDebianProgram } from './debian.ts'
import { unpackDebianTree } from './debian-tree.ts'
import { buildGoProgram } from './go-program.ts'
import { buildKubernetesProgram, type KubernetesProgram, kubernetesPrograms } from './kubernetes.ts'
import { buildPause } from './pause.ts'

export const cacheFolder: string = fileURLToPath(new URL('../../.cache', import.meta.url))

type Log = (line: string) => void

type Installer = (log: Log) => Promise<string>

const kubernetesInstallers = Object.fromEntries(
  kubernetesPrograms.map((program): [string, Installer] => [
    `${program}-1.36`,
    log => buildKubernetesProgram({ cache: cacheFolder, program, log }),
  ]),
) as Record<`${KubernetesProgram}-1.36`, Installer>

/** Without the snapshotters that need libraries of the machine. */
const buildContainerd = (program: string, log: Log): Promise<string> =>
  buildGoProgram({
    cache: cacheFolder,
    module: 'github.com/containerd/containerd/v2',
    version: 'v2.2.1',
    path: `cmd/${program}`,
    tags: ['no_btrfs', 'no_devmapper', 'no_zfs'],
    name: program,
    log,
  })

const installers = {
  ...kubernetesInstallers,
  'kubectl-1.20': () =>
    unpackDebianProgram({
      cache: cacheFolder,
      package: 'kubernetes-client',
      path: 'usr/bin/kubectl',
      name: 'kubectl-1.20',
    }),
  containerd: (log: Log) => buildContainerd('containerd', log),
  'containerd-shim-runc-v2': (log: Log) => buildContainerd('containerd-shim-runc-v2', log),
  coredns: (log: Log) =>
    buildGoProgram({
      cache: cacheFolder,
      module: 'github.com/coredns/coredns',
      version: 'v1.14.0',
      name: 'coredns',
      log,
    }),
  'helm-4': (log: Log) =>
    buildGoProgram({
      cache: cacheFolder,
      module: 'helm.sh/helm/v4',
      version: 'v4.3.1',
      path: 'cmd/helm',
      name: 'helm-4',
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
  'controller-gen': (log: Log) =>
    buildGoProgram({
      cache: cacheFolder,
      module: 'sigs.k8s.io/controller-tools',
      version: 'v0.23.0',
      path: 'cmd/controller-gen',
      name: 'controller-gen',
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
  'sample-apiserver': (log: Log) =>
    buildGoProgram({
      cache: cacheFolder,
      module: 'k8s.io/sample-apiserver',
      version: 'v0.36.4',
      name: 'sample-apiserver',
      log,
    }),
  'metrics-server': (log: Log) =>
    buildGoProgram({
      cache: cacheFolder,
      module: 'sigs.k8s.io/metrics-server',
      version: 'v0.9.0',
      path: 'cmd/metrics-server',
      name: 'metrics-server',
      log,
    }),
  'docker-registry': () =>
    unpackDebianProgram({
      cache: cacheFolder,
      package: 'docker-registry',
      path: 'usr/bin/docker-registry',
      name: 'docker-registry',
    }),
  skopeo: () => installDebianProgram('skopeo', 'skopeo'),
  podman: () => installDebianProgram('podman', 'podman'),
  pause: () => buildPause(cacheFolder),
  /** What a node needs beside kubelet, kube-proxy and containerd. */
  'node-tree': () =>
    unpackDebianTree({
      cache: cacheFolder,
      packages: ['runc', 'containernetworking-plugins', 'nftables', 'iptables', 'socat'],
      name: 'node-tree',
    }),
  /** What container images are made of. */
  'image-tree': () =>
    unpackDebianTree({
      cache: cacheFolder,
      packages: ['bash-static', 'busybox-static', 'curl', 'bind9-dnsutils', 'libc-bin', 'netcat-openbsd'],
      name: 'image-tree',
    }),
  'kubebuilder-4': (log: Log) =>
    buildGoProgram({
      cache: cacheFolder,
      module: 'sigs.k8s.io/kubebuilder/v4',
      version: 'v4.15.0',
      name: 'kubebuilder-4',
      log,
    }),
  nginx: () => installDebianProgram('nginx-light', 'nginx'),
} satisfies Record<string, Installer>

export type ComponentName = keyof typeof installers

export const componentNames: readonly ComponentName[] = Object.keys(installers) as ComponentName[]

/** Where `ensureComponent` puts a component that lives in the cache. */
export const componentPath = (name: ComponentName): string => join(cacheFolder, 'bin', name)

/** Gives the path of the component, fetching or building it when it is not there yet. */
export function ensureComponent(name: ComponentName, log: Log = () => {}): Promise<string> {
  return installers[name](log)
}
