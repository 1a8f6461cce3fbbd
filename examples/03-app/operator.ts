/** An application as one object: a Deployment, and a Service and an Ingress where they are asked for. */
import { Deployment } from '@coxswain/api/apps/v1'
import { Service } from '@coxswain/api/core/v1'
import { Ingress } from '@coxswain/api/networking/v1'
import {
  defineKind,
  defineOperator,
  field,
  isControlledBy,
  type KindOf,
  newControllerReference,
  type OperatorClient,
  s,
} from 'coxswain'

const status = s.object({ availableReplicas: s.int32().optional() })

export const App = defineKind({
  group: 'ingress.example.com',
  kind: 'App',
  versions: {
    v1: {
      spec: s.object({
        image: s.string({ minLength: 1 }),
        replicas: s.int32({ minimum: 0 }).default(1),
        expose: s
          .object({ service: s.boolean().default(false), ingress: s.boolean().default(false) })
          .default({}),
      }),
      status,
      columns: { Image: '.spec.image', Replicas: '.spec.replicas', Available: '.status.availableReplicas' },
    },
    v1beta1: {
      storage: true,
      spec: s.object({
        enable_ingress: s.boolean().default(false),
        enable_service: s.boolean(),
        replicas: s.int32({ minimum: 0 }).default(1),
        image: s.string({ minLength: 1 }),
      }),
      status,
      columns: { Image: '.spec.image', Replicas: '.spec.replicas', Available: '.status.availableReplicas' },
    },
  },
})
export type App = KindOf<typeof App.v1beta1>

const port = 80

export default defineOperator('app', operator => {
  operator
    .webhook(App.v1beta1)
    .default(app => {
      app.spec.enable_ingress = !app.spec.enable_ingress
    })
    .validate(({ object: app }) => {
      if (!app?.spec.enable_ingress || app.spec.enable_service) return
      const path = field.Path.of('spec', 'enable_service')
      return [field.invalid(path, false, 'must be true when enable_ingress is')]
    })
    .convert(App.v1, {
      to: ({ spec: { enable_ingress, enable_service, replicas, image }, status: said }) => ({
        spec: { image, replicas, expose: { service: enable_service, ingress: enable_ingress } },
        ...(said && { status: said }),
      }),
      from: ({ spec: { image, replicas, expose }, status: said }) => ({
        spec: { enable_ingress: expose.ingress, enable_service: expose.service, replicas, image },
        ...(said && { status: said }),
      }),
    })

  operator
    .controller('app')
    .for(App.v1beta1)
    .owns(Deployment)
    .owns(Service)
    .owns(Ingress)
    .reconcile(async ({ key, client }) => {
      const app = await client.get(App.v1beta1, key)
      if (!app || app.metadata.deletionTimestamp) return // what it owns goes with it
      const labels = { app: app.metadata.name }
      const metadata = { ...key, labels, ownerReferences: [newControllerReference(app)] }
      const as = { fieldManager: 'app', force: true }

      const deployment = await client.apply(
        Deployment,
        {
          metadata,
          spec: {
            replicas: app.spec.replicas,
            selector: { matchLabels: labels },
            template: {
              metadata: { labels },
              spec: { containers: [{ name: 'app', image: app.spec.image }] },
            },
          },
        },
        as,
      )
      if (app.spec.enable_service) {
        const ports = [{ name: 'http', port, targetPort: 8080, protocol: 'TCP' as const }]
        await client.apply(Service, { metadata, spec: { selector: labels, ports } }, as)
      } else await remove(client, Service, app)
      if (app.spec.enable_ingress) {
        const backend = { service: { name: key.name, port: { number: port } } }
        const paths = [{ path: '/', pathType: 'Prefix' as const, backend }]
        const rules = [{ host: `${key.name}.example.com`, http: { paths } }]
        await client.apply(Ingress, { metadata, spec: { rules } }, as)
      } else await remove(client, Ingress, app)

      const availableReplicas = deployment.status?.availableReplicas ?? 0
      if (app.status?.availableReplicas === availableReplicas) return
      await client.updateStatus(App.v1beta1, { ...app, status: { availableReplicas } })
    })
})

/** Deletes what this App has made, and nothing else that happens to have its name. */
async function remove(
  client: OperatorClient,
  kind: typeof Service | typeof Ingress,
  app: { readonly metadata: { readonly name: string; readonly namespace?: string; readonly uid: string } },
): Promise<void> {
  const { namespace = 'default', name } = app.metadata
  const object = await client.get(kind, { namespace, name })
  if (object && isControlledBy(object, app)) await client.delete(kind, { namespace, name })
}
