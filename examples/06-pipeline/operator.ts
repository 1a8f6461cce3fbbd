/**
 * A pipeline of models: each step is a Deployment with a Service in front, the steps share a volume with the models, and each
 * learns where the next one is. The Pipeline is cluster-scoped and owns objects inside a namespace and outside of any.
 */
import { Deployment } from '@coxswain/api/apps/v1'
import { PersistentVolume, PersistentVolumeClaim, Service } from '@coxswain/api/core/v1'
import { deepEqual } from '@coxswain/apimachinery/json'
import {
  type DeepReadonly,
  defineKind,
  defineOperator,
  isControlledBy,
  type KindOf,
  newControllerReference,
  type OperatorClient,
  s,
} from 'coxswain'

const phase = () => s.enumOf('Pending', 'Running', 'Failed')

export const Pipeline = defineKind({
  group: 'distri-infer.ndsl.cn',
  kind: 'Pipeline',
  scope: 'Cluster',
  versions: {
    v1beta1: {
      spec: s.object({
        namespace: s.string({ minLength: 1 }).default('default').doc('Where the steps run.'),
        modelStorage: s
          .object({
            path: s.string({ minLength: 1 }).doc('Of the models, on the node.'),
            size: s.quantity().default('1Gi'),
          })
          .cel('self == oldSelf', { message: 'volumes do not change: make another Pipeline' }),
        steps: s.list(
          s.object({
            image: s.string({ minLength: 1 }),
            location: s.string().optional().doc('The node to run on.'),
            model: s.string({ minLength: 1 }).doc('A file of the model storage.'),
            args: s.list(s.string()).default([]),
          }),
          { minItems: 1, maxItems: 64 },
        ),
      }),
      status: s.object({
        phase: phase().default('Pending'),
        storage: s.string().optional(),
        readySteps: s.string().optional().doc('2/3'),
        steps: s
          .list(s.object({ name: s.string(), phase: phase(), message: s.string().optional() }))
          .optional(),
      }),
      columns: { Phase: '.status.phase', Ready: '.status.readySteps', Storage: '.status.storage' },
    },
  },
})
export type Pipeline = KindOf<typeof Pipeline.v1beta1>

const label = 'distri-infer.ndsl.cn/pipeline'
const port = 8080
const as = { fieldManager: 'pipeline', force: true }

type StepStatus = { name: string; phase: 'Pending' | 'Running' | 'Failed'; message?: string }

export default defineOperator('pipeline', operator => {
  operator
    .controller('pipeline')
    .for(Pipeline.v1beta1)
    .owns(PersistentVolume)
    .owns(PersistentVolumeClaim)
    .owns(Deployment)
    .owns(Service)
    .reconcile(async ({ key, client }) => {
      const pipeline = await client.get(Pipeline.v1beta1, key)
      if (!pipeline || pipeline.metadata.deletionTimestamp) return // what it owns goes with it
      const { spec } = pipeline
      const storage = await applyStorage(client, pipeline)
      const steps: StepStatus[] = []
      for (const index of spec.steps.keys()) steps.push(await applyStep(client, pipeline, index))
      await removeOthers(client, pipeline, new Set(steps.map(({ name }) => name)))

      const running = steps.filter(step => step.phase === 'Running').length
      const status = {
        phase: steps.some(step => step.phase === 'Failed')
          ? ('Failed' as const)
          : running === steps.length && storage === 'Bound'
            ? ('Running' as const)
            : ('Pending' as const),
        storage,
        readySteps: `${running}/${steps.length}`,
        steps,
      }
      if (deepEqual(pipeline.status, status)) return
      await client.updateStatus(Pipeline.v1beta1, { ...pipeline, status })
    })
})

type Given = DeepReadonly<Pipeline>

const stepName = ({ metadata }: Given, index: number): string => `${metadata.name}-step-${index}`

function metadataOf(pipeline: Given, name: string, namespace?: string) {
  return {
    name,
    ...(namespace !== undefined && { namespace }),
    labels: { [label]: pipeline.metadata.name },
    ownerReferences: [newControllerReference(pipeline)],
  }
}

/** The volume with the models and the claim on it; gives the claim's phase. */
async function applyStorage(client: OperatorClient, pipeline: Given): Promise<string> {
  const { namespace, modelStorage } = pipeline.spec
  const name = `${pipeline.metadata.name}-models`
  const storage = String(modelStorage.size)
  const shared = { accessModes: ['ReadOnlyMany' as const], storageClassName: '' }
  await client.apply(
    PersistentVolume,
    {
      metadata: metadataOf(pipeline, name),
      spec: {
        ...shared,
        capacity: { storage },
        persistentVolumeReclaimPolicy: 'Retain',
        hostPath: { path: modelStorage.path },
        claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name },
      },
    },
    as,
  )
  const claim = await client.apply(
    PersistentVolumeClaim,
    {
      metadata: metadataOf(pipeline, name, namespace),
      spec: { ...shared, volumeName: name, resources: { requests: { storage } } },
    },
    as,
  )
  return claim.status?.phase ?? 'Pending'
}

async function applyStep(client: OperatorClient, pipeline: Given, index: number): Promise<StepStatus> {
  const { namespace, steps } = pipeline.spec
  const { image, location, model, args } = steps[index]!
  const name = stepName(pipeline, index)
  const metadata = metadataOf(pipeline, name, namespace)
  const labels = { ...metadata.labels, step: String(index) }
  const next = index + 1 < steps.length ? `http://${stepName(pipeline, index + 1)}.${namespace}.svc:80` : ''
  const env = [
    { name: 'MODEL', value: `/models/${model}` },
    { name: 'NEXT', value: next },
  ]
  await client.apply(
    Service,
    { metadata, spec: { selector: labels, ports: [{ port: 80, targetPort: port, protocol: 'TCP' }] } },
    as,
  )
  const deployment = await client.apply(
    Deployment,
    {
      metadata,
      spec: {
        replicas: 1,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            ...(location !== undefined && { nodeSelector: { 'kubernetes.io/hostname': location } }),
            containers: [
              {
                name: 'step',
                image,
                args: [...args],
                env,
                ports: [{ containerPort: port, protocol: 'TCP' }],
                volumeMounts: [{ name: 'models', mountPath: '/models', readOnly: true }],
              },
            ],
            volumes: [
              { name: 'models', persistentVolumeClaim: { claimName: `${pipeline.metadata.name}-models` } },
            ],
          },
        },
      },
    },
    as,
  )
  const progress = deployment.status?.conditions?.find(({ type }) => type === 'Progressing')
  if (progress?.status === 'False')
    return { name, phase: 'Failed', message: progress.message ?? 'no progress' }
  return { name, phase: (deployment.status?.availableReplicas ?? 0) > 0 ? 'Running' : 'Pending' }
}

/** Steps that were taken out of the Pipeline. */
async function removeOthers(
  client: OperatorClient,
  pipeline: Given,
  wanted: ReadonlySet<string>,
): Promise<void> {
  const labelSelector = `${label}=${pipeline.metadata.name}`
  for (const kind of [Deployment, Service]) {
    const { items } = await client.list(kind, { labelSelector })
    for (const object of items) {
      const { namespace = '', name } = object.metadata
      const isStep = wanted.has(name) && namespace === pipeline.spec.namespace
      if (isStep || object.metadata.deletionTimestamp || !isControlledBy(object, pipeline)) continue
      await client.delete(kind, { namespace, name })
    }
  }
}
