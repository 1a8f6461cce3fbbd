import {
  type ConfigurationInput,
  mutatingWebhooks,
  type OperatorDefinition,
  validatingWebhooks,
} from '@coxswain/runtime'
import type { GeneratedFile } from '../files/generated-file.ts'
import { certificateAnnotations, certificateFiles, webhookService } from './certificate-files.ts'
import { managerLabels, projectLabels } from './labels.ts'
import type { ManifestsSource } from './source.ts'
import { generatedYaml, kustomization } from './yaml-file.ts'

/** The Service's namespace, before kustomize moves it. */
const systemNamespace = 'system'

/** The port of the webhook server. */
export const webhookPort = 9443

/** How API servers reach a path of the webhook server. */
export function webhookClientConfig(path: string): object {
  return { service: { name: webhookService, namespace: systemNamespace, path } }
}

/** Whether the manager serves webhooks. */
export function hasWebhooks(definitions: readonly OperatorDefinition[]): boolean {
  return definitions.some(({ webhooks }) => webhooks.length > 0)
}

type Entry = ReturnType<typeof mutatingWebhooks>[number]

/** The configurations, one of each kind for every operator, the Service of the webhook server, and its certificate. */
export function webhookFiles(source: ManifestsSource): GeneratedFile[] {
  const { definitions, folder, project } = source
  if (!hasWebhooks(definitions)) return []
  const address = { service: { namespace: systemNamespace, name: webhookService } }
  const configurations = definitions.flatMap(({ name, webhooks }) => {
    const input: ConfigurationInput = { definitions: webhooks, address }
    return [
      ...configuration('MutatingWebhookConfiguration', { name, project }, mutatingWebhooks(input)),
      ...configuration('ValidatingWebhookConfiguration', { name, project }, validatingWebhooks(input)),
    ]
  })
  const hasConfigurations = configurations.length > 0
  return [
    ...(hasConfigurations
      ? [
          generatedYaml(`${folder}/webhook/manifests.yaml`, ...configurations),
          generatedYaml(`${folder}/webhook/kustomizeconfig.yaml`, serviceReferences),
        ]
      : []),
    generatedYaml(`${folder}/webhook/service.yaml`, {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { labels: projectLabels(project.name), name: webhookService, namespace: systemNamespace },
      spec: {
        ports: [{ port: 443, protocol: 'TCP', targetPort: webhookPort }],
        selector: managerLabels(project.name),
      },
    }),
    generatedYaml(
      `${folder}/webhook/kustomization.yaml`,
      kustomization({
        resources: [...(hasConfigurations ? ['manifests.yaml'] : []), 'service.yaml'],
        configurations: hasConfigurations ? ['kustomizeconfig.yaml'] : [],
      }),
    ),
    ...certificateFiles(source),
  ]
}

function configuration(
  kind: string,
  { name, project }: { readonly name: string; readonly project: ManifestsSource['project'] },
  webhooks: readonly Entry[],
): object[] {
  if (webhooks.length === 0) return []
  return [
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind,
      metadata: { ...certificateAnnotations(project), name },
      webhooks: webhooks.map(withoutDefaults),
    },
  ]
}

const defaults: Readonly<Record<string, unknown>> = {
  matchPolicy: 'Equivalent',
  namespaceSelector: '{}',
  objectSelector: '{}',
  timeoutSeconds: 10,
  reinvocationPolicy: 'Never',
}

/** Without what the server fills in, and without the scope, which the resource determines. */
function withoutDefaults({ clientConfig, rules, ...entry }: Entry): object {
  const kept = Object.entries(entry).filter(([key, value]) => {
    const preset = Object.hasOwn(defaults, key) ? defaults[key] : undefined
    return preset === undefined || (typeof value === 'object' ? JSON.stringify(value) : value) !== preset
  })
  return {
    ...Object.fromEntries(kept),
    clientConfig: webhookClientConfig(clientConfig.service?.path ?? ''),
    rules: (rules as readonly Readonly<Record<string, unknown>>[]).map(({ scope: _, ...rule }) => rule),
  }
}

const configurationKinds = ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration']

/** The Service of a webhook is renamed and moved with the Service itself. */
const serviceReferences = {
  nameReference: [
    {
      kind: 'Service',
      version: 'v1',
      fieldSpecs: configurationKinds.map(kind => ({
        kind,
        group: 'admissionregistration.k8s.io',
        path: 'webhooks/clientConfig/service/name',
      })),
    },
  ],
  namespace: configurationKinds.map(kind => ({
    kind,
    group: 'admissionregistration.k8s.io',
    path: 'webhooks/clientConfig/service/namespace',
    create: true,
  })),
}
