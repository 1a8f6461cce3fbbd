import { join } from 'node:path'
import { componentPath } from '../../../tools/components/index.ts'
import { type Expectations, expecting } from '../../kubectl/session.ts'
import { execute, type Outcome, root } from '../../support/coxswain.ts'
import type { Host } from '../hosts/host.ts'
import { type Program, startProgram } from '../hosts/program.ts'
import { controlPlaneAddress, podRange } from './network.ts'

const command = join(root, 'packages/coxswain/bin/coxswain.js')
const kubectlPath = componentPath('kubectl-1.36')

/** `coxswain up` without nodes of its own, and kubectl on the same host. */
export interface ControlPlane extends Expectations {
  readonly host: Host
  readonly url: string
  readonly dataDir: string
  /** The administrator's, for the address that nodes use. */
  readonly kubeconfig: string
  readonly program: Program
  readonly kubectlPath: string
  /** Runs a program with the kubeconfig, to its end. */
  inside(command: string, args: readonly string[], input?: string): Promise<Outcome>
  kubectl(...args: string[]): Promise<Outcome>
  /** `kubectl apply` of objects. */
  apply(...objects: object[]): Promise<void>
  /** A kubeconfig of another user, with a client certificate; gives its content. */
  issueKubeconfig(user: string): Promise<string>
}

export async function startControlPlane(host: Host, logs: string): Promise<ControlPlane> {
  const dataDir = join(host.folder, 'data')
  const kubeconfig = join(dataDir, 'kubeconfig')
  const program = await startProgram(host, {
    name: 'coxswain',
    command: process.execPath,
    args: [
      ...[command, 'up', '--nodes', '0', '--data-dir', dataDir, '--port', '6443'],
      ...['--bind-address', controlPlaneAddress, '--enable-bootstrap-token-auth'],
      ...['--allocate-node-cidrs', '--cluster-cidr', podRange],
      ...['--kubelet-certificate-authority', join(dataDir, 'pki/ca.crt')],
      ...['--kubelet-preferred-address-types', 'InternalIP'],
    ],
    logs,
    ready: /^coxswain is ready at /m,
  })
  const environment = { KUBECONFIG: kubeconfig, HOME: host.folder }
  const inside = (program: string, args: readonly string[], input?: string) => {
    const [shell, ...rest] = host.enter(program, args)
    return execute(shell, rest, environment, input)
  }
  const kubectl = (...args: string[]) => inside(kubectlPath, args)
  return {
    host,
    url: `https://${controlPlaneAddress}:6443`,
    dataDir,
    kubeconfig,
    program,
    kubectlPath,
    inside,
    kubectl,
    ...expecting('kubectl', kubectl),
    async apply(...items) {
      const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
      const { code, stderr } = await inside(kubectlPath, ['apply', '--filename', '-'], list)
      if (code !== 0) throw new Error(`kubectl apply failed: ${stderr}`)
    },
    async issueKubeconfig(user) {
      const { code, stdout, stderr } = await inside(process.execPath, [command, 'kubeconfig', '--user', user])
      if (code !== 0) throw new Error(`coxswain kubeconfig --user ${user} failed: ${stderr}`)
      return stdout
    },
  }
}
