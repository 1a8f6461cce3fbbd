import { createHash, randomInt, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readYaml, writeYaml } from '@coxswain/apimachinery/yaml'
import type { ControlPlane } from './control-plane.ts'
import { dnsAddress } from './network.ts'

/** What `kubeadm token create --print-join-command` tells. */
export interface JoinSettings {
  readonly token: string
  readonly caHash: string
}

/** What these kubelets need beside what every kubelet of the cluster gets. */
const kubeletSettings = {
  cgroupDriver: 'cgroupfs',
  clusterDNS: [dnsAddress],
  enforceNodeAllocatable: ['pods'],
  evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '1%', 'imagefs.available': '1%' },
  failCgroupV1: false,
  failSwapOn: false,
  imageGCHighThresholdPercent: 100,
  serverTLSBootstrap: true,
}

const letters = 'abcdefghijklmnopqrstuvwxyz0123456789'
const draw = (length: number) => Array.from({ length }, () => letters[randomInt(letters.length)]).join('')

/** Makes a bootstrap token and completes the kubelets' configuration: what an administrator does before nodes join. */
export async function prepareJoin(controlPlane: ControlPlane): Promise<JoinSettings> {
  const [id, secret] = [draw(6), draw(16)]
  await controlPlane.apply({
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'bootstrap.kubernetes.io/token',
    metadata: { namespace: 'kube-system', name: `bootstrap-token-${id}` },
    stringData: {
      'token-id': id,
      'token-secret': secret,
      'usage-bootstrap-authentication': 'true',
      'usage-bootstrap-signing': 'true',
      'auth-extra-groups': 'system:bootstrappers:kubeadm:default-node-token',
    },
  })
  const read = await controlPlane.ok(
    'get configmap kubelet-config -n kube-system -o jsonpath={.data.kubelet}',
  )
  const kubelet = writeYaml({ ...(readYaml(read)?.value as object), ...kubeletSettings })
  const patch = JSON.stringify({ data: { kubelet } })
  const patched = await controlPlane.kubectl(
    ...['patch', 'configmap', 'kubelet-config', '--namespace', 'kube-system', '--patch', patch],
  )
  if (patched.code !== 0) throw new Error(patched.stderr)
  const ca = new X509Certificate(readFileSync(join(controlPlane.dataDir, 'pki/ca.crt')))
  const key = ca.publicKey.export({ type: 'spki', format: 'der' })
  return { token: `${id}.${secret}`, caHash: `sha256:${createHash('sha256').update(key).digest('hex')}` }
}
