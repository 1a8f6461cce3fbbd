import { mkdirSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { componentPath } from '../../../tools/components/index.ts'
import { type Host, startHost } from '../hosts/host.ts'
import { startJanitor } from '../hosts/janitor.ts'
import { startProgram } from '../hosts/program.ts'
import { writeTestImages } from '../images/test-images.ts'
import { type ControlPlane, startControlPlane } from './control-plane.ts'
import { dnsObjects } from './dns.ts'
import { prepareJoin } from './join-settings.ts'
import { configureCni, connectHosts, controlPlaneAddress, routePods } from './network.ts'
import { type ClusterNode, joinNode, registryPort } from './node.ts'

/** `coxswain up` and real nodes, each on a host of its own on this machine. */
export interface KubeletCluster extends AsyncDisposable {
  readonly controlPlane: ControlPlane
  readonly nodes: readonly ClusterNode[]
}

export interface KubeletClusterOptions {
  /** @default 2 */
  readonly nodes?: number
  /** Where the output of all programs goes. @default a folder that goes with the cluster */
  readonly logs?: string
  readonly note?: (line: string) => void
}

const registry = fileURLToPath(new URL('../images/registry.ts', import.meta.url))

/** Resolves when all nodes are Ready and CoreDNS answers. Everything ends with the cluster, and with this process. */
export async function startKubeletCluster(options: KubeletClusterOptions = {}): Promise<KubeletCluster> {
  const { nodes: count = 2, note = () => {} } = options
  await using stack = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-kubelet-'))
  const janitor = stack.use(startJanitor())
  janitor.remember('folder', folder)
  const logs = options.logs ?? join(folder, 'logs')
  mkdirSync(logs, { recursive: true })

  note('hosts and their network')
  const host = (name: string, programs?: string) =>
    startHost({ name, folder: join(folder, name), janitor, ...(programs && { programs }) })
  const front = await host('control-plane')
  const hosts: Host[] = []
  for (let index = 0; index < count; index++)
    hosts.push(await host(`node-${index + 1}`, componentPath('node-tree')))
  await connectHosts(front, hosts)

  note('images')
  const images = join(folder, 'images')
  await writeTestImages(images)
  await startProgram(front, {
    name: 'registry',
    command: process.execPath,
    args: [registry, images, controlPlaneAddress, `${registryPort}`],
    logs,
    ready: /^ready$/m,
  })

  note('coxswain up')
  const controlPlane = await startControlPlane(front, logs)
  const settings = await prepareJoin(controlPlane)
  note('kubeadm join')
  const nodes = await Promise.all(
    hosts.map((each, index) => joinNode({ host: each, index, join: settings, logs })),
  )
  await approveServingCertificates(controlPlane, nodes)
  const proxyKubeconfig = await controlPlane.issueKubeconfig('system:kube-proxy')
  for (const node of nodes) {
    const range = await controlPlane.until(`get node ${node.name} -o jsonpath={.spec.podCIDR}`, /\//)
    await routePods([front, ...hosts], { node: node.host, address: node.address, podCidr: range })
    await configureCni(node.host, range)
    await node.startKubeProxy(proxyKubeconfig)
  }
  note('nodes become Ready, CoreDNS starts')
  await controlPlane.ok('wait node --all --for=condition=Ready --timeout=120s')
  await controlPlane.apply(...dnsObjects)
  await controlPlane.ok('rollout status deployment/coredns -n kube-system --timeout=120s')
  const running = stack.move()
  return { controlPlane, nodes, [Symbol.asyncDispose]: () => running.disposeAsync() }
}

/** Nothing approves them by itself: an administrator does, upstream too. */
async function approveServingCertificates(
  controlPlane: ControlPlane,
  nodes: readonly ClusterNode[],
): Promise<void> {
  for (const { name } of nodes) {
    const query = `get csr --field-selector=spec.signerName=kubernetes.io/kubelet-serving -o jsonpath='{.items[?(@.spec.username=="system:node:${name}")].metadata.name}'`
    const request = await controlPlane.until(query, /\S/)
    await controlPlane.ok(`certificate approve ${request.trim()}`)
  }
}
