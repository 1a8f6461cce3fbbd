import { corednsImage } from '../images/test-images.ts'
import { dnsAddress } from './network.ts'

const metadata = { namespace: 'kube-system', name: 'coredns', labels: { 'k8s-app': 'kube-dns' } }
const labels = { 'k8s-app': 'kube-dns' }

/** It knows no other names: there is nowhere to ask. */
const corefile = `.:53 {
  errors
  health
  ready
  kubernetes cluster.local in-addr.arpa ip6.arpa {
    pods insecure
    fallthrough in-addr.arpa ip6.arpa
    ttl 30
  }
  cache 30
  loadbalance
}
`

const probe = (path: string, port: number) => ({ httpGet: { path, port }, timeoutSeconds: 5 })

/** CoreDNS as kubeadm deploys it. */
export const dnsObjects: readonly object[] = [
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'system:coredns' },
    rules: [
      { apiGroups: [''], resources: ['services', 'pods', 'namespaces'], verbs: ['list', 'watch'] },
      { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
    ],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'system:coredns' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:coredns' },
    subjects: [{ kind: 'ServiceAccount', namespace: 'kube-system', name: 'coredns' }],
  },
  { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { Corefile: corefile } },
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata,
    spec: {
      replicas: 2,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          priorityClassName: 'system-cluster-critical',
          serviceAccountName: 'coredns',
          dnsPolicy: 'Default',
          tolerations: [{ key: 'CriticalAddonsOnly', operator: 'Exists' }],
          topologySpreadConstraints: [
            {
              maxSkew: 1,
              topologyKey: 'kubernetes.io/hostname',
              whenUnsatisfiable: 'DoNotSchedule',
              labelSelector: { matchLabels: labels },
            },
          ],
          containers: [
            {
              name: 'coredns',
              image: corednsImage,
              args: ['-conf', '/etc/coredns/Corefile'],
              ports: [
                { name: 'dns', containerPort: 53, protocol: 'UDP' },
                { name: 'dns-tcp', containerPort: 53, protocol: 'TCP' },
              ],
              resources: { requests: { cpu: '100m', memory: '70Mi' }, limits: { memory: '170Mi' } },
              livenessProbe: { ...probe('/health', 8080), failureThreshold: 5 },
              readinessProbe: probe('/ready', 8181),
              volumeMounts: [{ name: 'config', mountPath: '/etc/coredns', readOnly: true }],
            },
          ],
          volumes: [{ name: 'config', configMap: { name: 'coredns' } }],
        },
      },
    },
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { ...metadata, name: 'kube-dns' },
    spec: {
      clusterIP: dnsAddress,
      selector: labels,
      ports: [
        { name: 'dns', port: 53, protocol: 'UDP' },
        { name: 'dns-tcp', port: 53, protocol: 'TCP' },
      ],
    },
  },
]
