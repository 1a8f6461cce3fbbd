import { ConfigMap } from '@coxswain/api/core/v1'
import { ClusterRole, ClusterRoleBinding, Role, RoleBinding } from '@coxswain/api/rbac/v1'
import { isAlreadyExists } from '@coxswain/apimachinery/status'
import { writeYaml } from '@coxswain/apimachinery/yaml'
import type { Client } from '@coxswain/client'

/** What nodes that join have to know. */
export interface JoinOptions {
  /** Where they reach the API server. */
  readonly url: string
  /** PEM: what they trust. */
  readonly ca: string
  /** CIDRs of Services. */
  readonly serviceRange: string
}

const apiGroup = 'rbac.authorization.k8s.io'
const anonymous = { kind: 'User', apiGroup, name: 'system:anonymous' }
/** The group of the bootstrap tokens that kubeadm makes. */
const tokens = { kind: 'Group', apiGroup, name: 'system:bootstrappers:kubeadm:default-node-token' }
const nodes = { kind: 'Group', apiGroup, name: 'system:nodes' }
const csr = 'system:certificates.k8s.io:certificatesigningrequests'
const kubernetesVersion = 'v1.36.0'

const readersOf = (configMap: string) => [
  { apiGroups: [''], resources: ['configmaps'], resourceNames: [configMap], verbs: ['get'] },
]

/** kubeadm's roles in a namespace: who may read which ConfigMap. */
const roles = [
  {
    namespace: 'kube-public',
    name: 'kubeadm:bootstrap-signer-clusterinfo',
    of: 'cluster-info',
    to: [anonymous],
  },
  {
    namespace: 'kube-system',
    name: 'kubeadm:nodes-kubeadm-config',
    of: 'kubeadm-config',
    to: [tokens, nodes],
  },
  { namespace: 'kube-system', name: 'kubeadm:kubelet-config', of: 'kubelet-config', to: [nodes, tokens] },
] as const

/** kubeadm's bindings of roles that every cluster has, and of one that it makes. */
const clusterBindings = [
  { name: 'kubeadm:get-nodes', role: 'kubeadm:get-nodes', to: tokens },
  { name: 'kubeadm:kubelet-bootstrap', role: 'system:node-bootstrapper', to: tokens },
  { name: 'kubeadm:node-autoapprove-bootstrap', role: `${csr}:nodeclient`, to: tokens },
  { name: 'kubeadm:node-autoapprove-certificate-rotation', role: `${csr}:selfnodeclient`, to: nodes },
] as const

/**
 * Creates what `kubeadm init` leaves for `kubeadm join`: the public cluster-info, the configurations that a kubelet starts
 * with, and the rights of bootstrap tokens. What exists stays, except the address and the CA in cluster-info.
 */
export async function ensureJoinObjects(client: Client, options: JoinOptions): Promise<void> {
  await ensureClusterInfo(client, options)
  for (const { name, key, content } of configurationsOf(options))
    await ignoreExisting(
      client.create(ConfigMap, {
        metadata: { namespace: 'kube-system', name },
        data: { [key]: writeYaml(content) },
      }),
    )
  for (const { namespace, name, of, to } of roles) {
    const metadata = { namespace, name }
    const roleRef = { apiGroup, kind: 'Role', name }
    await ignoreExisting(client.create(Role, { metadata, rules: readersOf(of) }))
    await ignoreExisting(client.create(RoleBinding, { metadata, roleRef, subjects: [...to] }))
  }
  const rules = [{ apiGroups: [''], resources: ['nodes'], verbs: ['get'] }]
  await ignoreExisting(client.create(ClusterRole, { metadata: { name: 'kubeadm:get-nodes' }, rules }))
  for (const { name, role, to } of clusterBindings) {
    const roleRef = { apiGroup, kind: 'ClusterRole', name: role }
    await ignoreExisting(client.create(ClusterRoleBinding, { metadata: { name }, roleRef, subjects: [to] }))
  }
}

async function ensureClusterInfo(client: Client, { url, ca }: JoinOptions): Promise<void> {
  const kubeconfig = writeYaml({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: '',
        cluster: { 'certificate-authority-data': Buffer.from(ca).toString('base64'), server: url },
      },
    ],
    contexts: null,
    'current-context': '',
    preferences: {},
    users: null,
  })
  const metadata = { namespace: 'kube-public', name: 'cluster-info' }
  const made = await ignoreExisting(client.create(ConfigMap, { metadata, data: { kubeconfig } }))
  if (made) return
  const change = { data: { kubeconfig } }
  await client.patch(ConfigMap, metadata, change, { type: 'merge' })
}

/** As far as a kubelet of another machine needs them. */
function configurationsOf({ url, serviceRange }: JoinOptions) {
  return [
    {
      name: 'kubeadm-config',
      key: 'ClusterConfiguration',
      content: {
        apiVersion: 'kubeadm.k8s.io/v1beta4',
        kind: 'ClusterConfiguration',
        kubernetesVersion,
        controlPlaneEndpoint: new URL(url).host,
        networking: { dnsDomain: 'cluster.local', serviceSubnet: serviceRange },
      },
    },
    {
      name: 'kubelet-config',
      key: 'kubelet',
      content: {
        apiVersion: 'kubelet.config.k8s.io/v1beta1',
        kind: 'KubeletConfiguration',
        authentication: {
          anonymous: { enabled: false },
          webhook: { enabled: true },
          x509: { clientCAFile: '/etc/kubernetes/pki/ca.crt' },
        },
        authorization: { mode: 'Webhook' },
        clusterDomain: 'cluster.local',
        rotateCertificates: true,
      },
    },
  ]
}

/** Whether it was made now. */
async function ignoreExisting(write: Promise<unknown>): Promise<boolean> {
  try {
    await write
    return true
  } catch (error) {
    if (isAlreadyExists(error)) return false
    throw error
  }
}
