import type { GeneratedFile } from '../files/generated-file.ts'
import { projectLabels } from './labels.ts'
import type { ManifestsSource, ProjectInformation } from './source.ts'
import { generatedYaml, kustomization } from './yaml-file.ts'

/** The Service of the webhook server before kustomize renames it: controller-gen's name. */
export const webhookService = 'webhook-service'

/** The Secret that cert-manager writes and the manager mounts. */
export const certificateSecret = 'webhook-server-cert'

const issuer = 'selfsigned-issuer'
const certificate = 'serving-cert'

/** Lets cert-manager write the CA into the object that is annotated; nothing where the operator makes its certificates. */
export function certificateAnnotations({ name, certificates }: ProjectInformation): object {
  if (certificates !== 'cert-manager') return {}
  return { annotations: { 'cert-manager.io/inject-ca-from': `${name}-system/${name}-${certificate}` } }
}

/** cert-manager's Issuer and Certificate for the webhook server. */
export function certificateFiles({ folder, project }: ManifestsSource): GeneratedFile[] {
  if (project.certificates !== 'cert-manager') return []
  const { name } = project
  const host = `${name}-${webhookService}.${name}-system.svc`
  const metadata = (own: string) => ({ labels: projectLabels(name), name: own, namespace: 'system' })
  return [
    generatedYaml(`${folder}/certmanager/issuer.yaml`, {
      apiVersion: 'cert-manager.io/v1',
      kind: 'Issuer',
      metadata: metadata(issuer),
      spec: { selfSigned: {} },
    }),
    generatedYaml(`${folder}/certmanager/certificate-webhook.yaml`, {
      apiVersion: 'cert-manager.io/v1',
      kind: 'Certificate',
      metadata: metadata(certificate),
      spec: {
        dnsNames: [host, `${host}.cluster.local`],
        issuerRef: { kind: 'Issuer', name: issuer },
        secretName: certificateSecret,
      },
    }),
    generatedYaml(`${folder}/certmanager/kustomizeconfig.yaml`, {
      nameReference: [
        {
          kind: 'Issuer',
          group: 'cert-manager.io',
          fieldSpecs: [{ kind: 'Certificate', group: 'cert-manager.io', path: 'spec/issuerRef/name' }],
        },
      ],
    }),
    generatedYaml(
      `${folder}/certmanager/kustomization.yaml`,
      kustomization({
        resources: ['issuer.yaml', 'certificate-webhook.yaml'],
        configurations: ['kustomizeconfig.yaml'],
      }),
    ),
  ]
}
