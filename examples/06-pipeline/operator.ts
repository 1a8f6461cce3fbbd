/**
 * A pipeline of models: each step is a Deployment with a Service in front, the steps share a volume with the models, and each
 * knows the Service of the next one. The Pipeline is cluster-scoped; what it owns is in the namespace `pipeline` and outside of any.
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
  type Operator,
  type OperatorClient,
  s,
} from 'coxswain'

export type Scope = 'Cluster' | 'Namespaced'

/** Where the steps of cluster-scoped Pipelines run. */
export const namespace = 'pipeline'
/** Kept on a namespaced Pipeline until its PersistentVolume is deleted: a namespaced object cannot own it. */
export const finalizer = 'distri-infer.ndsl.cn/volume'

const servicePort = 8081
const defaultListenPort = '9080'
const capacity = '10Gi'
const as = { fieldManager: 'pipeline', force: true }

export const definePipeline = (scope: Scope) =>
  defineKind({
    group: 'distri-infer.ndsl.cn',
    kind: 'Pipeline',
    scope,
    versions: {
      v1beta1: {
        spec: s.object({
          modelStorage: s
            .object({
              csiParameter: s.map(s.string()).doc('Of the CSI driver: server and share.'),
              type: s.string().optional().doc('Of the storage: nfs. Taken from csiParameter when absent.'),
            })
            .cel("has(self.type) || 'type' in self.csiParameter", {
              message: 'type is required, here or in csiParameter',
            })
            .cel('self.csiParameter == oldSelf.csiParameter', {
              message: 'volumes are immutable: create another Pipeline',
            })
            .doc('Storage of the models.'),
          steps: s
            .listMap(
              ['model'],
              s.object({
                image: s.string({ minLength: 1 }),
                location: s.string({ minLength: 1 }).doc('The name of the node to run on.'),
                model: s
                  .string({ maxLength: 63, pattern: '^[a-z]([-a-z0-9]*[a-z0-9])?$' })
                  .doc('The name of the model, of its Deployment and of its Service.'),
                args: s.map(s.string()).default({}).doc('listenPort, and whatever the image takes.'),
              }),
              { minItems: 1, maxItems: 64 },
            )
            .doc('All steps, in order.'),
        }),
        status: s.object({
          phase: s.string().optional().doc('Available or UnAvailable.'),
          detailPhase: s
            .object({
              pvPhase: s.string().optional(),
              pvcPhase: s.string().optional(),
              stepsPhase: s
                .list(
                  s.object({
                    deploymentPhase: s.string().doc('Ready and all replicas: 1/1.'),
                    servicePhase: s.string().optional().doc('Available or UnAvailable.'),
                  }),
                )
                .optional(),
            })
            .optional(),
        }),
        columns: {
          'Steps.model': '.spec.steps[*].model',
          'Status.phase': '.status.phase',
          'Status.DetailPhase': '.status.detailPhase',
        },
      },
    },
  })

export const Pipeline = definePipeline('Cluster') // 'Namespaced' is all that another scope takes
export type Pipeline = KindOf<typeof Pipeline.v1beta1>
type Given = DeepReadonly<Pipeline>
type StepPhase = { deploymentPhase: string; servicePhase: string }

export default createPipelineOperator(Pipeline)

export function createPipelineOperator({ v1beta1: kind }: typeof Pipeline): Operator {
  return defineOperator('pipeline', operator => {
    // Cluster-scoped Pipelines use one namespace: the operator needs rights in no other.
    if (!kind.namespaced)
      for (const each of [PersistentVolumeClaim, Deployment, Service])
        operator.cache(each, { namespaces: [namespace] })

    const controller = operator
      .controller('pipeline')
      .for(kind)
      .watches(PersistentVolume, ({ metadata, spec }) => {
        const name = metadata.labels?.pipeline
        if (name === undefined) return []
        return [{ name, ...(kind.namespaced && { namespace: spec?.claimRef?.namespace ?? '' }) }]
      })
      .owns(PersistentVolumeClaim)
      .owns(Deployment)
      .owns(Service)
    if (kind.namespaced)
      controller.finalizer(finalizer, async ({ key, client }) => {
        const volume = await client.get(PersistentVolume, { name: volumeNameOf(key) })
        if (volume) await client.delete(PersistentVolume, { name: volume.metadata.name })
      })
    controller.reconcile(async ({ key, client }) => {
      const pipeline = await client.get(kind, key)
      if (!pipeline || pipeline.metadata.deletionTimestamp) return // what it owns is deleted with it
      const storage = await applyStorage(client, pipeline)
      const stepsPhase: StepPhase[] = []
      for (const index of pipeline.spec.steps.keys())
        stepsPhase.push(await applyStep(client, pipeline, index))
      await deleteOthers(client, pipeline)

      const isAvailable =
        storage.pvPhase === 'Bound' && storage.pvcPhase === 'Bound' && stepsPhase.every(isStepAvailable)
      const status = {
        phase: isAvailable ? 'Available' : 'UnAvailable',
        detailPhase: { ...storage, stepsPhase },
      }
      if (deepEqual(pipeline.status, status)) return
      await client.updateStatus(kind, { ...pipeline, status })
    })
  })
}

function isStepAvailable({ deploymentPhase, servicePhase }: StepPhase): boolean {
  const [ready, all] = deploymentPhase.split('/')
  return ready === all && ready !== '0' && servicePhase === 'Available'
}

const namespaceOf = ({ metadata }: Given): string => metadata.namespace ?? namespace

/** PersistentVolumes of namespaced Pipelines need names of their own. */
const volumeNameOf = ({ namespace: own, name }: { readonly namespace?: string; readonly name: string }) =>
  own === undefined ? `${name}-pv` : `${own}-${name}-pv`

const labelsOf = ({ metadata }: Given) => ({ pipeline: metadata.name })

/** The volume with the models and the claim on it. */
async function applyStorage(client: OperatorClient, pipeline: Given) {
  const { metadata } = pipeline
  const { csiParameter, type = csiParameter.type } = pipeline.spec.modelStorage
  const { type: _, server = '', share = '', ...others } = csiParameter
  const owned = { labels: labelsOf(pipeline), ownerReferences: [newControllerReference(pipeline)] }
  const key = { namespace: namespaceOf(pipeline), name: `${metadata.name}-pvc` }
  const name = volumeNameOf(metadata)
  const accessModes = ['ReadWriteMany' as const]
  const volume = await client.apply(
    PersistentVolume,
    {
      metadata: { name, ...(metadata.namespace === undefined ? owned : { labels: owned.labels }) },
      spec: {
        accessModes,
        capacity: { storage: capacity },
        csi: {
          driver: `${type}.csi.k8s.io`,
          volumeHandle: `${server}/${share}/${metadata.name}`,
          volumeAttributes: { ...others, server, share: `${share}/${metadata.name}` },
        },
        claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', ...key },
      },
    },
    as,
  )
  const claim = await client.apply(
    PersistentVolumeClaim,
    {
      metadata: { ...key, ...owned },
      spec: {
        accessModes,
        storageClassName: '', // not the default class: this volume
        volumeName: name,
        resources: { requests: { storage: capacity } },
      },
    },
    as,
  )
  return { pvPhase: volume.status?.phase ?? 'Pending', pvcPhase: claim.status?.phase ?? 'Pending' }
}

async function applyStep(client: OperatorClient, pipeline: Given, index: number): Promise<StepPhase> {
  const { steps } = pipeline.spec
  const { image, location, model, args } = steps[index]!
  const key = { namespace: namespaceOf(pipeline), name: model }
  const labels = { ...labelsOf(pipeline), step: String(index + 1) }
  const metadata = { ...key, labels, ownerReferences: [newControllerReference(pipeline)] }
  const listenPort = args.listenPort ?? defaultListenPort
  const port = { name: 'http', port: servicePort, targetPort: Number(listenPort), protocol: 'TCP' as const }
  const service = await client.apply(Service, { metadata, spec: { selector: labels, ports: [port] } }, as)
  const servicePhase = service.spec?.clusterIP ? 'Available' : 'UnAvailable'

  const existing = await client.get(Deployment, key)
  const step = existing?.spec?.selector.matchLabels?.step
  if (existing && step !== labels.step && isControlledBy(existing, pipeline)) {
    // Selectors are immutable: the model has become another step.
    if (!existing.metadata.deletionTimestamp) await client.delete(Deployment, key)
    return { deploymentPhase: '0/0', servicePhase }
  }
  const operator = 'In' as const
  const onNode = { matchExpressions: [{ key: 'kubernetes.io/hostname', operator, values: [location] }] }
  const container = {
    name: model,
    image,
    imagePullPolicy: 'IfNotPresent' as const,
    ports: [{ containerPort: Number(listenPort), protocol: 'TCP' as const }],
    volumeMounts: [{ name: model, mountPath: '/data' }],
    env: [
      { name: 'begin', value: String(index === 0) },
      { name: 'dst', value: steps[(index + 1) % steps.length]!.model }, // the last step answers the first
      { name: 'modelPath', value: `/data/${model}` },
      { name: 'listenPort', value: listenPort },
      { name: 'args', value: JSON.stringify(args) },
    ],
  }
  const claimName = `${pipeline.metadata.name}-pvc`
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
            affinity: {
              nodeAffinity: {
                requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [onNode] },
              },
            },
            containers: [container],
            volumes: [{ name: model, persistentVolumeClaim: { claimName } }],
          },
        },
      },
    },
    as,
  )
  const { readyReplicas = 0, replicas = 0 } = deployment.status ?? {}
  return { deploymentPhase: `${readyReplicas}/${replicas}`, servicePhase }
}

/** Deletes what belongs to steps that were removed from the Pipeline. */
async function deleteOthers(client: OperatorClient, pipeline: Given): Promise<void> {
  const models = new Set(pipeline.spec.steps.map(({ model }) => model))
  const own = namespaceOf(pipeline)
  for (const kind of [Deployment, Service]) {
    const labelSelector = `pipeline=${pipeline.metadata.name}`
    const { items } = await client.list(kind, { namespace: own, labelSelector })
    for (const object of items) {
      const { name, deletionTimestamp } = object.metadata
      if (models.has(name) || deletionTimestamp || !isControlledBy(object, pipeline)) continue
      await client.delete(kind, { namespace: own, name })
    }
  }
}
