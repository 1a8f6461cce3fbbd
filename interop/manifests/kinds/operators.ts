import {
  Container,
  ObjectReference,
  PodTemplateSpec,
  ResourceQuotaSpec,
  ResourceRequirements,
  SecretKeySelector,
  Taint,
  TypedLocalObjectReference,
} from '@coxswain/api/core/v1'
import { LabelSelector } from '@coxswain/api/meta/v1'
import { s } from 'coxswain'
import { shape } from './shape.ts'

export const Memcached = shape('Memcached', {
  spec: s.object({ size: s.int32({ minimum: 1, maximum: 3 }).optional() }),
  status: s.object({ conditions: s.conditions().optional() }),
})
export const Guestbook = shape(
  'Guestbook',
  {
    spec: s.object({
      size: s.int32({ minimum: 1, maximum: 10 }),
      configMapName: s.string({ maxLength: 15 }),
      alias: s.enumOf('Phone', 'Address', 'Name').default('Phone'),
    }),
    status: s.object({ active: s.string().optional(), standby: s.list(s.string()).optional() }),
  },
  { scope: 'Cluster' },
)
export const Certificate = shape(
  'Certificate',
  {
    spec: s.object({
      secretName: s.string({ minLength: 1, maxLength: 253 }),
      issuerRef: s.object({
        name: s.string({ minLength: 1 }),
        kind: s.enumOf('Issuer', 'ClusterIssuer').default('Issuer'),
        group: s.string().optional(),
      }),
      dnsNames: s.set(s.string(), { maxItems: 100 }).optional(),
      duration: s.duration().optional(),
      privateKey: s
        .object({ algorithm: s.enumOf('RSA', 'ECDSA', 'Ed25519').default('RSA'), size: s.int32().optional() })
        .optional(),
    }),
    status: s.object({
      conditions: s.conditions().optional(),
      notAfter: s.time().optional(),
      revision: s.int32().optional(),
    }),
    columns: { Ready: ".status.conditions[?(@.type=='Ready')].status", Secret: '.spec.secretName' },
  },
  { shortNames: ['cert'] },
)
export const ClusterIssuer = shape(
  'ClusterIssuer',
  {
    spec: s
      .object({
        acme: s
          .object({
            server: s.string({ format: 'uri' }),
            email: s.string().optional(),
            accountKey: s.ref(SecretKeySelector),
          })
          .optional(),
        ca: s.object({ secretName: s.string() }).optional(),
        selfSigned: s.object({ crlDistributionPoints: s.list(s.string()).optional() }).optional(),
      })
      .atMostOneOf(['acme', 'ca', 'selfSigned']),
    status: s.object({ conditions: s.conditions().optional() }),
  },
  { scope: 'Cluster', categories: ['issuers'] },
)
export const CertificateRequest = shape('CertificateRequest', {
  spec: s.object({
    request: s.bytes(),
    issuerRef: s.object({
      name: s.string({ minLength: 1 }),
      kind: s.enumOf('Issuer', 'ClusterIssuer').default('Issuer'),
      group: s.string().optional(),
    }),
    isCA: s.boolean().default(false),
    usages: s.list(s.enumOf('signing', 'server auth', 'client auth')).optional(),
  }),
  status: s.object({
    conditions: s.conditions().optional(),
    certificate: s.bytes().optional(),
    failureTime: s.time().optional(),
  }),
})
export const HTTPRoute = shape('HTTPRoute', {
  spec: s.object({
    hostnames: s
      .list(s.string({ maxLength: 253 }).pattern('^(\\*\\.)?[a-z0-9.-]+$'), { maxItems: 16 })
      .optional(),
    rules: s.list(
      s.object({
        matches: s
          .list(
            s.object({
              type: s.enumOf('Exact', 'PathPrefix').default('PathPrefix'),
              value: s.string({ maxLength: 1024 }).default('/'),
            }),
            { maxItems: 8 },
          )
          .optional(),
        backends: s.list(
          s.object({
            name: s.string(),
            port: s.int32({ minimum: 1, maximum: 65535 }),
            weight: s.int32({ minimum: 0, maximum: 1000000 }).default(1),
          }),
          { minItems: 1, maxItems: 16 },
        ),
      }),
      { maxItems: 16 },
    ),
  }),
  status: s.object({ conditions: s.conditions().optional() }),
})
export const Gateway = shape('Gateway', {
  spec: s.object({
    className: s.string().immutable(),
    listeners: s.listMap(
      ['name'],
      s.object({
        name: s.string({ minLength: 1, maxLength: 253 }),
        port: s.int32({ minimum: 1, maximum: 65535 }),
        protocol: s.string({ minLength: 1 }),
      }),
      { minItems: 1, maxItems: 64 },
    ),
  }),
  status: s.object({ conditions: s.conditions().optional(), addresses: s.list(s.string()).optional() }),
})
export const ServiceMonitor = shape('ServiceMonitor', {
  spec: s.object({
    selector: s.ref(LabelSelector),
    endpoints: s.list(
      s.object({
        port: s.string().optional(),
        path: s.string().default('/metrics'),
        interval: s.string().pattern('^([0-9]+)(s|m)$').default('30s'),
        params: s.map(s.list(s.string())).optional(),
      }),
    ),
  }),
})
export const PrometheusRule = shape('PrometheusRule', {
  spec: s.object({
    groups: s.listMap(
      ['name'],
      s.object({
        name: s.string(),
        rules: s.list(
          s
            .object({
              alert: s.string().optional(),
              record: s.string().optional(),
              expr: s.intOrString(),
              labels: s.map(s.string()).optional(),
            })
            .atMostOneOf(['alert', 'record']),
          { maxItems: 50 },
        ),
      }),
      { maxItems: 20 },
    ),
  }),
})
export const Application = shape(
  'Application',
  {
    spec: s.object({
      source: s.object({
        repoURL: s.string(),
        targetRevision: s.string().optional(),
        helm: s
          .object({
            values: s.anyObject().optional(),
            parameters: s
              .listMap(['name'], s.object({ name: s.string(), value: s.string().optional() }))
              .optional(),
          })
          .optional(),
      }),
      destination: s
        .object({
          server: s.string().optional(),
          name: s.string().optional(),
          namespace: s.string().default('default'),
        })
        .exactlyOneOf(['server', 'name']),
      project: s.string().default('default'),
    }),
    status: s.object({
      health: s.enumOf('Healthy', 'Degraded', 'Unknown').optional(),
      history: s
        .list(s.object({ id: s.int64(), revision: s.string(), deployedAt: s.time() }), { maxItems: 10 })
        .optional(),
    }),
  },
  { shortNames: ['app', 'apps'] },
)
export const ScaledObject = shape('ScaledObject', {
  spec: s
    .object({
      scaleTargetRef: s.ref(TypedLocalObjectReference),
      minReplicaCount: s.int32().default(0),
      maxReplicaCount: s.int32().default(100),
      triggers: s.list(
        s.object({
          type: s.string(),
          metadata: s.map(s.string()),
          metricType: s.enumOf('AverageValue', 'Value').default('AverageValue'),
        }),
        { minItems: 1 },
      ),
    })
    .cel('self.minReplicaCount <= self.maxReplicaCount', {
      message: 'minReplicaCount must not exceed maxReplicaCount',
    }),
  status: s.object({ conditions: s.conditions().optional() }),
})
export const Machine = shape(
  'Machine',
  {
    spec: s.object({
      clusterName: s.string({ minLength: 1 }).immutable(),
      providerID: s.string().optional(),
      failureDomain: s.string().optional(),
      bootstrap: s.object({
        configRef: s.ref(ObjectReference).optional(),
        dataSecretName: s.string().optional(),
      }),
      taints: s.list(s.ref(Taint)).optional(),
    }),
    status: s.object({
      conditions: s.conditions().optional(),
      observedGeneration: s.int64().optional(),
      phase: s.enumOf('Pending', 'Running', 'Failed').optional(),
      addresses: s.list(s.object({ type: s.string(), address: s.string() })).optional(),
    }),
    columns: { Phase: '.status.phase', Age: '.metadata.creationTimestamp' },
  },
  { shortNames: ['ma'], categories: ['cluster-api'] },
)
export const Provider = shape(
  'Provider',
  {
    spec: s.object({
      package: s.string(),
      revisionHistoryLimit: s.int64().default(1),
      activation: s.enumOf('Automatic', 'Manual').default('Automatic'),
    }),
    status: s.object({ conditions: s.conditions().optional() }),
  },
  { scope: 'Cluster', categories: ['pkg'] },
)
export const Backup = shape('Backup', {
  spec: s.object({
    includedNamespaces: s.set(s.string()).optional(),
    labelSelector: s.ref(LabelSelector).nullable().optional(),
    ttl: s.string({ format: 'duration' }).default('720h'),
  }),
  status: s.object({
    phase: s.enumOf('New', 'InProgress', 'Completed', 'Failed').optional(),
    progress: s.object({ totalItems: s.int32().optional(), itemsBackedUp: s.int32().optional() }).optional(),
    errors: s.map(s.string()).optional(),
  }),
})
export const PostgresCluster = shape('PostgresCluster', {
  spec: s.object({
    instances: s.int32({ minimum: 1 }).default(1),
    imageName: s.string().optional(),
    storage: s.object({ size: s.quantity(), storageClass: s.string().optional() }),
    parameters: s.map(s.string()).optional(),
    resources: s.ref(ResourceRequirements).optional(),
  }),
  status: s.object({
    readyInstances: s.int32().optional(),
    currentPrimary: s.string().optional(),
    conditions: s.conditions().optional(),
  }),
  scale: { specReplicasPath: '.spec.instances', statusReplicasPath: '.status.readyInstances' },
})
export const Kafka = shape('Kafka', {
  spec: s.object({
    listeners: s.listMap(
      ['name'],
      s.object({
        name: s.string().pattern('^[a-z0-9]{1,11}$'),
        port: s.int32({ minimum: 9092 }),
        tls: s.boolean(),
      }),
      { minItems: 1 },
    ),
    config: s.any().optional(),
  }),
  status: s.object({ conditions: s.conditions().optional() }),
})
export const Tenant = shape(
  'Tenant',
  {
    spec: s.object({
      owners: s.listMap(
        ['kind', 'name'],
        s.object({ kind: s.enumOf('User', 'Group', 'ServiceAccount'), name: s.string() }),
      ),
      quota: s.ref(ResourceQuotaSpec).optional(),
    }),
    status: s.object({ namespaces: s.set(s.string()).optional(), size: s.int32().optional() }),
  },
  { scope: 'Cluster' },
)
export const Workflow = shape('Workflow', {
  spec: s.object({
    entrypoint: s.string(),
    steps: s.listMap(
      ['name'],
      s.object({
        name: s.string(),
        container: s.ref(Container).optional(),
        dependsOn: s.set(s.string()).optional(),
        retries: s.int32({ minimum: 0 }).optional(),
      }),
    ),
    arguments: s.map(s.string()).atomic().optional(),
  }),
  status: s.object({ conditions: s.conditions().optional(), startedAt: s.time().optional() }),
})
export const IPPool = shape(
  'IPPool',
  {
    spec: s.object({
      cidr: s.string({ format: 'cidr' }),
      gateway: s.string({ format: 'ipv4' }).optional(),
      excluded: s.set(s.string({ format: 'ipv4' })).optional(),
    }),
  },
  { scope: 'Cluster' },
)
export const DNSRecord = shape('DNSRecord', {
  spec: s.object({
    type: s.enumOf('A', 'CNAME', 'TXT'),
    targets: s.list(s.string(), { minItems: 1 }),
    ttl: s.int64({ minimum: 0 }).default(300),
  }),
  status: s.object({ observedGeneration: s.int64().optional() }),
})
export const Captain = shape('Captain', {
  spec: s.object({ ship: s.string().example('Pequod'), rank: s.int32({ minimum: 1 }).optional() }),
  status: s.object({ conditions: s.conditions().optional() }),
})
export const Frigate = shape('Frigate', {
  spec: s.object({ foo: s.string().optional() }),
  status: s.object({ ready: s.boolean().optional() }),
})
export const Rollout = shape('Rollout', {
  spec: s.object({
    replicas: s.int32().default(1),
    selector: s.ref(LabelSelector),
    template: s.ref(PodTemplateSpec),
    maxSurge: s.intOrString().optional(),
    paused: s.boolean().optional(),
  }),
  status: s.object({ replicas: s.int32().optional(), conditions: s.conditions().optional() }),
  scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
  columns: { Desired: '.spec.replicas', Age: '.metadata.creationTimestamp' },
})
