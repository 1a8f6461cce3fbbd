/** sample-controller's Foo: a Deployment of a given name and size. */
import { Deployment } from '@coxswain/api/apps/v1'
import {
  defineKind,
  defineOperator,
  isControlledBy,
  type KindOf,
  newControllerReference,
  s,
  TerminalError,
} from 'coxswain'

export const Foo = defineKind({
  group: 'samplecontroller.k8s.io',
  kind: 'Foo',
  plural: 'foos',
  // Groups under k8s.io are Kubernetes' own: a definition in one has to say who approved it.
  annotations: { 'api-approved.kubernetes.io': 'unapproved, a sample' },
  versions: {
    v1alpha1: {
      spec: s.object({
        deploymentName: s.string().optional(),
        replicas: s.int32({ minimum: 1, maximum: 10 }).optional(),
      }),
      status: s.object({ availableReplicas: s.int32().optional() }),
      columns: { Deployment: '.spec.deploymentName', Available: '.status.availableReplicas' },
    },
  },
})
export type Foo = KindOf<typeof Foo.v1alpha1>

export default defineOperator('sample-controller', operator => {
  operator
    .controller('foo')
    .for(Foo.v1alpha1)
    .owns(Deployment)
    .reconcile(async ({ key, client, events }) => {
      const foo = await client.get(Foo.v1alpha1, key)
      if (!foo || foo.metadata.deletionTimestamp) return
      const { deploymentName, replicas = 1 } = foo.spec
      if (!deploymentName) throw new TerminalError('deploymentName must be given')

      const name = { namespace: key.namespace ?? 'default', name: deploymentName }
      let deployment = await client.get(Deployment, name)
      if (deployment && !isControlledBy(deployment, foo)) {
        const message = `Resource "${deploymentName}" already exists and is not managed by Foo`
        events.warning(foo, 'ErrResourceExists', message)
        throw new Error(message) // it may go: try again
      }
      if (!deployment) {
        const labels = { app: 'nginx', controller: foo.metadata.name }
        deployment = await client.create(Deployment, {
          metadata: { ...name, ownerReferences: [newControllerReference(foo)] },
          spec: {
            replicas,
            selector: { matchLabels: labels },
            template: {
              metadata: { labels },
              spec: { containers: [{ name: 'nginx', image: 'nginx:latest' }] },
            },
          },
        })
      } else if (deployment.spec?.replicas !== replicas) {
        deployment = await client.patch(Deployment, name, { spec: { replicas } }, { type: 'merge' })
      }

      const availableReplicas = deployment.status?.availableReplicas ?? 0
      if (foo.status?.availableReplicas === availableReplicas) return
      await client.updateStatus(Foo.v1alpha1, { ...foo, status: { availableReplicas } })
      events.normal(foo, 'Synced', 'Foo synced successfully')
    })
})
