/** The smallest valid object of each built-in resource, without name and namespace. A resource that is not here is not proved. */
export interface Sample {
  readonly [field: string]: unknown
}

const container = { name: 'main', image: 'example/image:1' }
const selector = { matchLabels: { app: 'sample' } }
const template = { metadata: { labels: { app: 'sample' } }, spec: { containers: [container] } }
const jobTemplate = {
  metadata: { labels: { app: 'sample' } },
  spec: { containers: [container], restartPolicy: 'Never' },
}
const role = { kind: 'Role', name: 'reader', apiGroup: 'rbac.authorization.k8s.io' }
const rule = { apiGroups: [''], resources: ['pods'], verbs: ['get'] }
const target = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }
const webhookClient = { url: 'https://127.0.0.1:9443/hook' }

const certificateRequest = btoa(`-----BEGIN CERTIFICATE REQUEST-----
MIHiMIGJAgEAMCcxDzANBgNVBAoMBmdvbGRlbjEUMBIGA1UEAwwLZ29sZGVuLXVz
ZXIwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAS0vRMCFEO3LLXUXBulIYGsqOd7
joymD9hogkHg9MPG66F6+D5EvOLXBq3Ra1I+zlh2kei/jGRC8Q8NjTtOstwJoAAw
CgYIKoZIzj0EAwIDSAAwRQIhAMCKLXMqzUFjuKdFOFt5rP92alaXvx3Hd9VVdBHk
tXeQAiAfL+R9/E2Pw4Sn7XFABDuOB//DP539HnXNSZu746LFAg==
-----END CERTIFICATE REQUEST-----
`)
const oneRule = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }

export const samples: Readonly<Record<string, Sample>> = {
  'v1/configmaps': { data: { key: 'value' } },
  'v1/endpoints': {},
  'v1/events': {
    involvedObject: { kind: 'Pod', name: 'web', namespace: 'default' },
    reason: 'Tested',
    message: 'It was tested.',
    type: 'Normal',
  },
  'v1/limitranges': { spec: { limits: [{ type: 'Container', default: { cpu: '1' } }] } },
  'v1/namespaces': {},
  'v1/nodes': {},
  'v1/persistentvolumeclaims': {
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  },
  'v1/persistentvolumes': {
    spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/data' } },
  },
  'v1/pods': { spec: { containers: [container] } },
  'v1/podtemplates': { template },
  'v1/replicationcontrollers': { spec: { replicas: 1, selector: { app: 'sample' }, template } },
  'v1/resourcequotas': { spec: { hard: { pods: '10' } } },
  'v1/secrets': { type: 'Opaque', data: { key: 'dmFsdWU=' } },
  'v1/serviceaccounts': {},
  'v1/services': { spec: { ports: [{ port: 80 }], selector: { app: 'sample' } } },
  'apps/v1/controllerrevisions': { revision: 1, data: { kept: true } },
  'apps/v1/daemonsets': { spec: { selector, template } },
  'apps/v1/deployments': { spec: { selector, template } },
  'apps/v1/replicasets': { spec: { selector, template } },
  'apps/v1/statefulsets': { spec: { selector, serviceName: 'sample', template } },
  'autoscaling/v1/horizontalpodautoscalers': { spec: { maxReplicas: 3, scaleTargetRef: target } },
  'autoscaling/v2/horizontalpodautoscalers': { spec: { maxReplicas: 3, scaleTargetRef: target } },
  'batch/v1/cronjobs': {
    spec: { schedule: '*/5 * * * *', jobTemplate: { spec: { template: jobTemplate } } },
  },
  'batch/v1/jobs': { spec: { template: jobTemplate } },
  'coordination.k8s.io/v1/leases': { spec: { holderIdentity: 'holder' } },
  'discovery.k8s.io/v1/endpointslices': {
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.0.0.1'] }],
    ports: [],
  },
  'networking.k8s.io/v1/ingressclasses': { spec: { controller: 'example.com/ingress' } },
  'networking.k8s.io/v1/ingresses': {
    spec: { defaultBackend: { service: { name: 'web', port: { number: 80 } } } },
  },
  'networking.k8s.io/v1/networkpolicies': { spec: { podSelector: {} } },
  'node.k8s.io/v1/runtimeclasses': { handler: 'runc' },
  'policy/v1/poddisruptionbudgets': { spec: { minAvailable: 1, selector } },
  'rbac.authorization.k8s.io/v1/clusterrolebindings': {
    roleRef: { ...role, kind: 'ClusterRole' },
    subjects: [{ kind: 'User', name: 'jane', apiGroup: 'rbac.authorization.k8s.io' }],
  },
  'rbac.authorization.k8s.io/v1/clusterroles': { rules: [rule] },
  'rbac.authorization.k8s.io/v1/rolebindings': { roleRef: role },
  'rbac.authorization.k8s.io/v1/roles': { rules: [rule] },
  'scheduling.k8s.io/v1/priorityclasses': { value: 1000 },
  'storage.k8s.io/v1/csidrivers': { spec: {} },
  'storage.k8s.io/v1/csinodes': { spec: { drivers: [] } },
  'storage.k8s.io/v1/csistoragecapacities': { storageClassName: 'fast' },
  'storage.k8s.io/v1/volumeattributesclasses': { driverName: 'example.com', parameters: { tier: 'fast' } },
  'resource.k8s.io/v1/deviceclasses': { spec: {} },
  'resource.k8s.io/v1/resourceclaims': { spec: { devices: {} } },
  'resource.k8s.io/v1/resourceclaimtemplates': { spec: { spec: { devices: {} } } },
  'flowcontrol.apiserver.k8s.io/v1/flowschemas': { spec: { priorityLevelConfiguration: { name: 'exempt' } } },
  'storage.k8s.io/v1/storageclasses': { provisioner: 'example.com/disk' },
  'storage.k8s.io/v1/volumeattachments': {
    spec: { attacher: 'example.com', nodeName: 'node-1', source: { persistentVolumeName: 'disk' } },
  },
  'admissionregistration.k8s.io/v1/validatingwebhookconfigurations': {
    webhooks: [
      {
        name: 'a.example.com',
        clientConfig: webhookClient,
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  },
  'admissionregistration.k8s.io/v1/mutatingwebhookconfigurations': {
    webhooks: [
      {
        name: 'a.example.com',
        clientConfig: webhookClient,
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  },
  'apiregistration.k8s.io/v1/apiservices': {
    spec: {
      group: 'example.com',
      version: 'v1',
      groupPriorityMinimum: 1,
      versionPriority: 1,
      service: { namespace: 'default', name: 'a' },
      insecureSkipTLSVerify: true,
    },
  },
  'apiextensions.k8s.io/v1/customresourcedefinitions': {
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'grown', singular: 'grown', kind: 'Grown', listKind: 'GrownList' },
      versions: [
        { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
      ],
    },
  },
  'events.k8s.io/v1/events': {
    eventTime: '2026-01-01T00:00:00.000000Z',
    reportingController: 'example.com/a',
    reportingInstance: 'a',
    action: 'Act',
    reason: 'Tested',
    type: 'Normal',
    regarding: { namespace: 'default' },
  },
  'certificates.k8s.io/v1/certificatesigningrequests': {
    spec: { request: certificateRequest, signerName: 'example.com/signer', usages: ['client auth'] },
  },
  'networking.k8s.io/v1/ipaddresses': {
    spec: { parentRef: { resource: 'services', name: 'a', namespace: 'default' } },
  },
  'networking.k8s.io/v1/servicecidrs': { spec: { cidrs: ['10.200.0.0/24'] } },
  'admissionregistration.k8s.io/v1/validatingadmissionpolicies': {
    spec: { matchConstraints: { resourceRules: [oneRule] }, validations: [{ expression: 'true' }] },
  },
  'admissionregistration.k8s.io/v1/validatingadmissionpolicybindings': {
    spec: { policyName: 'none', validationActions: ['Deny'] },
  },
  'admissionregistration.k8s.io/v1/mutatingadmissionpolicies': {
    spec: {
      matchConstraints: { resourceRules: [oneRule] },
      reinvocationPolicy: 'Never',
      mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'Object{}' } }],
    },
  },
  'admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings': { spec: { policyName: 'none' } },
  'resource.k8s.io/v1/resourceslices': {
    spec: {
      driver: 'example.com',
      nodeName: 'a',
      pool: { name: 'a', generation: 1, resourceSliceCount: 1 },
      devices: [{ name: 'a' }],
    },
  },
  'flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations': {
    spec: { type: 'Limited', limited: { nominalConcurrencyShares: 1, limitResponse: { type: 'Reject' } } },
  },
}

const attributes = { verb: 'get', resource: 'pods', namespace: 'default' }

/** Bodies of resources that only take a POST and store nothing. */
export const reviews: Readonly<Record<string, Sample>> = {
  'authentication.k8s.io/v1/selfsubjectreviews': {},
  'authentication.k8s.io/v1/tokenreviews': { spec: { token: 'unknown' } },
  'authorization.k8s.io/v1/localsubjectaccessreviews': {
    metadata: { namespace: 'default' },
    spec: { user: 'jane', resourceAttributes: attributes },
  },
  'authorization.k8s.io/v1/selfsubjectaccessreviews': { spec: { resourceAttributes: attributes } },
  'authorization.k8s.io/v1/selfsubjectrulesreviews': { spec: { namespace: 'default' } },
  'authorization.k8s.io/v1/subjectaccessreviews': { spec: { user: 'jane', resourceAttributes: attributes } },
}

/** Names that have to be of a form. @default 'sample' */
export const sampleNames: Readonly<Record<string, string>> = {
  'apiregistration.k8s.io/v1/apiservices': 'v1.example.com',
  'apiextensions.k8s.io/v1/customresourcedefinitions': 'grown.example.com',
  'networking.k8s.io/v1/ipaddresses': '10.97.0.9',
}
