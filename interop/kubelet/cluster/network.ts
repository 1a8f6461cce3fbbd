import { writeFileSync } from 'node:fs'
import { runOrFail } from '../../../tools/components/process.ts'
import type { Host } from '../hosts/host.ts'

/** A switch with all hosts on it, and no way out. The addresses exist only in the hosts' network namespaces. */
export const controlPlaneAddress = '10.77.0.1'
export const nodeAddress = (index: number): string => `10.77.0.${index + 11}`
export const podRange = '10.244.0.0/16'
export const dnsAddress = '10.96.0.10'

export async function connectHosts(controlPlane: Host, nodes: readonly Host[]): Promise<void> {
  const ip = (host: Host, command: string) => host.run('ip', command.split(' '))
  await ip(controlPlane, 'link add switch type bridge')
  await ip(controlPlane, `addr add ${controlPlaneAddress}/24 dev switch`)
  await ip(controlPlane, 'link set switch up')
  for (const [index, node] of nodes.entries()) {
    const port = `port-${index}`
    await ip(controlPlane, `link add ${port} type veth peer name eth0`)
    await ip(controlPlane, `link set ${port} master switch up`)
    await moveLink(controlPlane, 'eth0', node)
    await ip(node, `addr add ${nodeAddress(index)}/24 dev eth0`)
    await ip(node, 'link set eth0 up')
    await node.run('sh', ['-c', 'echo 1 > /proc/sys/net/ipv4/ip_forward'])
  }
}

/** The Pods of a node, and how to reach them. */
export interface PodRoute {
  readonly node: Host
  readonly address: string
  readonly podCidr: string
}

/** Every host reaches the Pods of a node through it. */
export async function routePods(hosts: readonly Host[], { node, address, podCidr }: PodRoute): Promise<void> {
  for (const host of hosts)
    if (host !== node) await host.run('ip', ['route', 'replace', podCidr, 'via', address])
}

/** Pods get an address of the node's range, ports of the host where they ask for one, and no bridge. */
export async function configureCni(node: Host, podCidr: string): Promise<void> {
  const plugins = [
    {
      type: 'ptp',
      ipMasq: false,
      ipam: { type: 'host-local', ranges: [[{ subnet: podCidr }]], routes: [{ dst: '0.0.0.0/0' }] },
    },
    { type: 'portmap', capabilities: { portMappings: true }, snat: true },
  ]
  await writeInside(
    node,
    '/etc/cni/net.d/10-pods.conflist',
    JSON.stringify({ cniVersion: '1.0.0', name: 'pods', plugins }),
  )
}

/** Writes a file that only the host sees. */
export async function writeInside(host: Host, path: string, content: string): Promise<void> {
  const staged = `${host.folder}/staged`
  writeFileSync(staged, content)
  await host.run('install', ['-D', '-m', '600', staged, path])
}

/** A network namespace is named by a process id of the caller: so from outside, with the network of the first. */
async function moveLink(from: Host, link: string, to: Host): Promise<void> {
  await runOrFail('nsenter', [
    `--net=/proc/${from.pid}/ns/net`,
    'ip',
    'link',
    'set',
    link,
    'netns',
    `${to.pid}`,
  ])
}
