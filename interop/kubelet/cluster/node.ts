import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { componentPath } from '../../../tools/components/index.ts'
import { eventually } from '../../support/eventually.ts'
import type { Host } from '../hosts/host.ts'
import { lastLines, type Program, startProgram } from '../hosts/program.ts'
import { pauseImage } from '../images/test-images.ts'
import type { JoinSettings } from './join-settings.ts'
import { controlPlaneAddress, nodeAddress, podRange, writeInside } from './network.ts'

export const registryPort = 5000

/** A host with containerd, a kubelet that has joined by `kubeadm join`, and kube-proxy. */
export interface ClusterNode {
  readonly host: Host
  readonly name: string
  readonly address: string
  /** The running kubelet; `startKubelet` replaces it. */
  readonly kubelet: Program
  /** Starts the kubelet again, as an init system would. */
  startKubelet(): Promise<void>
  /** Starts kube-proxy with the kubeconfig of its user. */
  startKubeProxy(kubeconfig: string): Promise<void>
}

export interface NodeOptions {
  readonly host: Host
  readonly index: number
  readonly join: JoinSettings
  readonly logs: string
}

const socket = 'unix:///run/containerd/containerd.sock'

/**
 * Without CAP_SYS_RESOURCE a sandbox cannot have the score that kubelets ask for: containerd may then give it the
 * lowest one that it can.
 */
const containerdConfig = `version = 3
[plugins.'io.containerd.cri.v1.images']
  [plugins.'io.containerd.cri.v1.images'.pinned_images]
    sandbox = '${pauseImage}'
  [plugins.'io.containerd.cri.v1.images'.registry]
    config_path = '/etc/containerd/certs.d'
[plugins.'io.containerd.cri.v1.runtime']
  disable_apparmor = true
  restrict_oom_score_adj = true
  [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
    runtime_type = 'io.containerd.runc.v2'
    [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
      SystemdCgroup = false
  [plugins.'io.containerd.cri.v1.runtime'.cni]
    bin_dirs = ['/usr/lib/cni']
    conf_dir = '/etc/cni/net.d'
`

export async function joinNode({ host, index, join: settings, logs }: NodeOptions): Promise<ClusterNode> {
  const address = nodeAddress(index)
  await startContainerd(host, logs)
  const joining = await startProgram(host, {
    name: 'kubeadm',
    command: componentPath('kubeadm-1.36'),
    args: [
      ...['join', `${controlPlaneAddress}:6443`, '--token', settings.token],
      ...['--discovery-token-ca-cert-hash', settings.caHash, '--node-name', host.name],
      ...['--cri-socket', socket, '--ignore-preflight-errors', 'all'],
    ],
    logs,
  })
  const inside = (file: string) => host.run('cat', [file])
  const flagFile = '/var/lib/kubelet/kubeadm-flags.env'
  // kubeadm writes what the kubelet starts with and then waits for it. An init system would start it.
  await eventually(`kubeadm join on ${host.name} configures the kubelet`, () => inside(flagFile)).catch(
    error => {
      throw new Error(`${error.message}\n${lastLines(joining.log)}`, { cause: error })
    },
  )
  const flags =
    /"(.*)"/
      .exec(await inside(flagFile))?.[1]
      ?.split(' ')
      .filter(flag => flag !== '') ?? []
  const startKubelet = () =>
    startProgram(host, {
      name: 'kubelet',
      command: componentPath('kubelet-1.36'),
      args: [
        '--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf',
        '--kubeconfig=/etc/kubernetes/kubelet.conf',
        '--config=/var/lib/kubelet/config.yaml',
        ...flags,
        `--node-ip=${address}`,
      ],
      logs,
    })
  let kubelet = await startKubelet()
  await eventually(`${host.name} has joined`, async () =>
    readFileSync(joining.log, 'utf8').includes('This node has joined the cluster'),
  ).catch(error => {
    const tails = [joining.log, kubelet.log].map(log => lastLines(log))
    throw new Error(`${error.message}\n${tails.join('\n')}`, { cause: error })
  })
  return {
    host,
    name: host.name,
    address,
    get kubelet() {
      return kubelet
    },
    async startKubelet() {
      kubelet = await startKubelet()
    },
    startKubeProxy: kubeconfig => startKubeProxy(host, logs, kubeconfig),
  }
}

async function startContainerd(host: Host, logs: string): Promise<void> {
  const registry = `http://${controlPlaneAddress}:${registryPort}`
  await writeInside(host, '/etc/containerd/config.toml', containerdConfig)
  await writeInside(
    host,
    '/etc/containerd/certs.d/_default/hosts.toml',
    `server = "${registry}"\n[host."${registry}"]\n  capabilities = ["pull", "resolve"]\n`,
  )
  await startProgram(host, {
    name: 'containerd',
    command: componentPath('containerd'),
    args: [],
    logs,
    // It looks for its shim in PATH.
    env: { PATH: `${join(componentPath('containerd'), '..')}:${process.env.PATH}` },
    ready: /containerd successfully booted/,
  })
}

async function startKubeProxy(host: Host, logs: string, kubeconfig: string): Promise<void> {
  await writeInside(host, '/etc/kubernetes/kube-proxy.conf', kubeconfig)
  const config = {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    mode: 'nftables',
    clientConnection: { kubeconfig: '/etc/kubernetes/kube-proxy.conf' },
    clusterCIDR: podRange,
    hostnameOverride: host.name,
    // The machine's, not the host's: they stay as they are.
    conntrack: { maxPerCore: 0, min: 0, tcpCloseWaitTimeout: '0s', tcpEstablishedTimeout: '0s' },
  }
  await writeInside(host, '/etc/kubernetes/kube-proxy.yaml', JSON.stringify(config))
  await startProgram(host, {
    name: 'kube-proxy',
    command: componentPath('kube-proxy-1.36'),
    args: ['--config=/etc/kubernetes/kube-proxy.yaml'],
    logs,
  })
}
