import { Deployment } from '@coxswain/api/apps/v1'
import { ConfigMap, Service } from '@coxswain/api/core/v1'
import { defineKind, defineOperator, s } from 'coxswain'

export const Site = defineKind({
  group: 'example.com',
  kind: 'Site',
  versions: {
    v1: {
      spec: s.object({ page: s.string(), replicas: s.int32().default(1), public: s.boolean().default(true) }),
      status: s.object({ conditions: s.conditions().optional() }),
    },
  },
})

export default defineOperator('sites', operator => {
  operator
    .controller('site')
    .for(Site.v1)
    .dependents(dependent => [
      dependent('page', ConfigMap, {
        desired: ({ object }) => ({
          metadata: { name: `${object.metadata.name}-page` },
          data: { 'index.html': object.spec.page },
        }),
      }),
      dependent('server', Deployment, {
        dependsOn: ['page'],
        desired: ({ object: { metadata, spec } }) => ({
          metadata: { name: metadata.name },
          spec: {
            replicas: spec.replicas,
            selector: { matchLabels: { site: metadata.name } },
            template: {
              metadata: { labels: { site: metadata.name } },
              spec: {
                containers: [
                  {
                    name: 'web',
                    image: 'nginx',
                    volumeMounts: [{ name: 'page', mountPath: '/usr/share/nginx/html' }],
                  },
                ],
                volumes: [{ name: 'page', configMap: { name: `${metadata.name}-page` } }],
              },
            },
          },
        }),
        readyWhen: ({ spec, status }) => (status?.readyReplicas ?? 0) >= (spec.replicas ?? 1),
      }),
      dependent('entry', Service, {
        dependsOn: ['server'],
        when: ({ object }) => object.spec.public,
        desired: ({ object: { metadata } }) => ({
          metadata: { name: metadata.name },
          spec: { selector: { site: metadata.name }, ports: [{ port: 80 }] },
        }),
      }),
    ])
    .reconcile()
})
