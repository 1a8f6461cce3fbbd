import { certificateSecret, webhookService } from './certificate-files.ts'
import { managerLabels, projectLabels } from './labels.ts'
import { hasNamespaceRoles } from './rbac-files.ts'
import type { Manifests, ManifestsSource } from './source.ts'
import { hasWebhooks, webhookPort } from './webhook-files.ts'
import { generatedYaml, kustomization, ownedYaml } from './yaml-file.ts'

const healthPort = 8081
const metricsPort = 8443

/** The manager, and the kustomization of everything. */
export function managerFiles(source: ManifestsSource): Manifests {
  const { definitions, projectKinds, folder, project } = source
  const { name } = project
  const labels = projectLabels(name)
  const resources = [
    ...(projectKinds.length > 0 ? ['../crd'] : []),
    '../rbac',
    '../manager',
    ...(hasWebhooks(definitions) ? ['../webhook'] : []),
    ...(hasWebhooks(definitions) && project.certificates === 'cert-manager' ? ['../certmanager'] : []),
  ]
  const operator = kustomization({ namespace: `${name}-system`, namePrefix: `${name}-`, resources })
  return {
    generated: [
      generatedYaml(`${folder}/manager/metrics_service.yaml`, {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: {
          labels: { ...labels, ...managerLabels(name) },
          name: 'controller-manager-metrics-service',
          namespace: 'system',
        },
        spec: {
          ports: [{ name: 'https', port: metricsPort, protocol: 'TCP', targetPort: metricsPort }],
          selector: managerLabels(name),
        },
      }),
    ],
    owned: [
      ownedYaml(
        `${folder}/manager/manager.yaml`,
        {
          apiVersion: 'v1',
          kind: 'Namespace',
          metadata: { labels: { ...labels, ...managerLabels(name) }, name: 'system' },
        },
        deployment(source),
      ),
      ownedYaml(
        `${folder}/manager/kustomization.yaml`,
        kustomization({ resources: ['manager.yaml', 'metrics_service.yaml'] }),
      ),
      ...(hasNamespaceRoles(source)
        ? [
            ownedYaml(`${folder}/operator/kustomization.yaml`, operator),
            ownedYaml(
              `${folder}/default/kustomization.yaml`,
              kustomization({ resources: ['../operator', '../namespaces'] }),
            ),
          ]
        : [ownedYaml(`${folder}/default/kustomization.yaml`, operator)]),
    ],
  }
}

function deployment({ definitions, project }: ManifestsSource): object {
  const { name, image = 'controller:latest', operatorFiles = [], namespaces = [] } = project
  const withWebhooks = hasWebhooks(definitions)
  const args = [
    'run',
    ...operatorFiles,
    '--leader-elect',
    `--health-probe-bind-address=:${healthPort}`,
    `--metrics-bind-address=:${metricsPort}`,
    ...(namespaces.length > 0 ? [`--namespaces=${namespaces.join(',')}`] : []),
    ...(withWebhooks
      ? [
          `--webhook-service=${name}-system/${name}-${webhookService}`,
          `--webhook-configuration-prefix=${name}-`,
          ...(project.certificates === 'cert-manager' ? [`--webhook-cert-path=${certificateFolder}`] : []),
        ]
      : []),
  ]
  const mounts = withWebhooks && project.certificates === 'cert-manager'
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      labels: { ...projectLabels(name), ...managerLabels(name) },
      name: 'controller-manager',
      namespace: 'system',
    },
    spec: {
      replicas: 1,
      selector: { matchLabels: managerLabels(name) },
      template: {
        metadata: { labels: managerLabels(name) },
        spec: {
          containers: [
            {
              name: 'manager',
              image,
              args,
              ports: [
                { name: 'health', containerPort: healthPort },
                { name: 'metrics', containerPort: metricsPort },
                ...(withWebhooks ? [{ name: 'webhook-server', containerPort: webhookPort }] : []),
              ],
              livenessProbe: { httpGet: { path: '/healthz', port: 'health' }, periodSeconds: 20 },
              readinessProbe: { httpGet: { path: '/readyz', port: 'health' }, periodSeconds: 5 },
              resources: { limits: { memory: '512Mi' }, requests: { cpu: '10m', memory: '128Mi' } },
              securityContext: {
                allowPrivilegeEscalation: false,
                capabilities: { drop: ['ALL'] },
                readOnlyRootFilesystem: true,
              },
              ...(mounts && {
                volumeMounts: [{ name: 'webhook-certs', mountPath: certificateFolder, readOnly: true }],
              }),
            },
          ],
          securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
          serviceAccountName: 'controller-manager',
          terminationGracePeriodSeconds: 10,
          ...(mounts && {
            volumes: [{ name: 'webhook-certs', secret: { secretName: certificateSecret } }],
          }),
        },
      },
    },
  }
}

const certificateFolder = '/tmp/k8s-webhook-server/serving-certs'
