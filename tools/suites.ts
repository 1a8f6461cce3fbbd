/**
 * The suites that need more than Node. The tests of a suite are `interop/NAME/**\/*.test.ts`; they find a component with
 * `ensureComponent` of `tools/components`. Everything a suite needs is fetched before it starts, and what cannot be
 * had fails it.
 */
import type { ComponentName } from './components/index.ts'

export interface Suite {
  readonly name: string
  /** One line for the heading. */
  readonly title: string
  readonly components: readonly ComponentName[]
  /** For one test file, in seconds. */
  readonly timeout: number
  /** Test files at one time, where each has a server of its own; against another server it is one. @default 1 */
  readonly concurrency?: number
  /** Whether it also runs against another server: `--target reference`. @default false */
  readonly hasTarget?: boolean
  /** Whether `.ci/run` leaves it out: what it needs takes too long to build. @default false */
  readonly byHand?: boolean
}

export const suites: readonly Suite[] = [
  {
    name: 'kubectl',
    title: 'real kubectl 1.20 and 1.36 against our server',
    components: ['kubectl-1.20', 'kubectl-1.36'],
    timeout: 450,
    concurrency: 2,
    hasTarget: true,
  },
  {
    name: 'golden',
    title: 'recorded conversations of kube-apiserver 1.36 replayed against our server',
    components: [],
    timeout: 300,
  },
  {
    name: 'go',
    title: 'real client-go and controller-runtime programs',
    components: [],
    timeout: 600,
    hasTarget: true,
  },
  {
    name: 'crds',
    title: 'the custom resources of well-known operators, from their Go modules',
    components: ['kubectl-1.36'],
    timeout: 600,
    hasTarget: true,
  },
  {
    name: 'types',
    title:
      'typed kinds for the custom resources of eight well-known projects: compiled, given back, used; a project of kubebuilder imported',
    components: ['controller-gen', 'kubebuilder-4'],
    timeout: 300,
  },
  {
    name: 'manifests',
    title: 'our manifests beside those of controller-gen, and accepted by a server',
    components: ['controller-gen', 'kubectl-1.36'],
    timeout: 180,
    hasTarget: true,
  },
  {
    name: 'examples',
    title: 'every example as its own Deployment, and with the rights of its manifests only',
    components: ['kubectl-1.36'],
    timeout: 450,
    hasTarget: true,
  },
  {
    name: 'commands',
    title:
      'coxswain cluster, envtest, plan, rights, simulate and torture as processes; only Node is needed, but minutes',
    components: [],
    timeout: 300,
    concurrency: 2,
  },
  {
    name: 'torture-languages',
    title: 'operators in Go and Python, with a planted bug each and without, under coxswain torture',
    components: [],
    timeout: 900,
    byHand: true,
  },
  {
    name: 'helm',
    title: 'real Helm 4 with a chart of ours, its hooks and its tests',
    components: ['helm-4', 'kubectl-1.36'],
    timeout: 300,
    concurrency: 2,
    hasTarget: true,
    byHand: true,
  },
  {
    name: 'kustomize',
    title: 'kustomizations built by the real kustomize 5.8 and by ours',
    components: ['kustomize-5.8'],
    timeout: 300,
  },
  {
    name: 'image',
    title:
      'images of ours in a real registry, for skopeo and podman, and their files as a container has them',
    components: ['docker-registry', 'skopeo', 'podman'],
    timeout: 300,
  },
  {
    name: 'aggregation',
    title: 'extension API servers that answer badly, as recorded behind a real kube-apiserver',
    components: ['kubectl-1.36'],
    timeout: 300,
    hasTarget: true,
  },
  {
    name: 'extension-servers',
    title: 'the real sample-apiserver and metrics-server behind our server',
    components: ['kubectl-1.36', 'etcd-3.6', 'sample-apiserver', 'metrics-server'],
    timeout: 300,
    byHand: true,
  },
  {
    name: 'real',
    title: 'our client, informers, controllers and operators against a real kube-apiserver',
    components: ['kubectl-1.36'],
    timeout: 300,
    hasTarget: true,
    byHand: true,
  },
  {
    name: 'control-plane',
    title: 'the real controller manager and scheduler on our server, and ours compared with them',
    components: ['kubectl-1.36', 'kube-controller-manager-1.36', 'kube-scheduler-1.36'],
    timeout: 900,
    byHand: true,
  },
  {
    name: 'kubelet',
    title: 'two real kubelets that join our server with kubeadm, containerd, kube-proxy and CoreDNS',
    components: [
      'kubectl-1.36',
      'kubelet-1.36',
      'kubeadm-1.36',
      'kube-proxy-1.36',
      'containerd',
      'containerd-shim-runc-v2',
      'coredns',
      'agnhost-1.36',
      'nonewprivs-1.36',
      'pause',
      'node-tree',
      'image-tree',
    ],
    timeout: 900,
    byHand: true,
  },
  {
    name: 'storage',
    title: 'the store conformance suite on etcd, and crash tests on a real disk',
    components: ['etcd-3.4'],
    timeout: 300,
  },
  {
    name: 'servers',
    title: 'several servers on one etcd, and servers that are killed under load',
    components: ['etcd-3.6'],
    timeout: 300,
  },
  {
    name: 'fuzz',
    title: 'malformed requests of every kind against our server',
    components: [],
    timeout: 900,
  },
  {
    name: 'growth',
    title: 'everything in every kind that can grow, grown: no write takes more time than its length explains',
    components: [],
    timeout: 900,
    concurrency: 2,
  },
  {
    name: 'scaffold',
    title:
      'a new project from packed tarballs: scaffolded, tested, deployed and undeployed with real kubectl',
    components: ['kubectl-1.36'],
    timeout: 450,
  },
  {
    name: 'envtest',
    title:
      "controller-runtime's own tests and a project of kubebuilder, on the stand-ins for kube-apiserver and etcd",
    components: ['kubebuilder-4', 'controller-gen', 'kubectl-1.36', 'kube-apiserver-1.36'],
    timeout: 3600,
    hasTarget: true,
    byHand: true,
  },
  {
    name: 'clients',
    title: 'the helpers for tests in Go, Python, Java and Rust, with their own test runners',
    components: [],
    timeout: 600,
    byHand: true,
  },
  {
    name: 'binary',
    title: 'the one-file executable on a machine with nothing but libc and kubectl',
    components: ['kubectl-1.36'],
    timeout: 450,
  },
  {
    name: 'openssl',
    title: 'openssl and curl with our certificates and over our sockets',
    components: [],
    timeout: 120,
    concurrency: 2,
  },
]
