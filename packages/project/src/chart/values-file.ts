import { writeYaml } from '@coxswain/apimachinery/yaml'
import type { ManagerValues } from './manager.ts'

/** Which parts the project has; a switch for what is not there would do nothing. */
export interface ChartParts {
  readonly hasMetrics: boolean
  readonly hasWebhooks: boolean
  /** Whether the manifests use cert-manager already. */
  readonly usesCertManager: boolean
}

/** values.yaml, with a comment for each setting. */
export function valuesFile(manager: ManagerValues, parts: ChartParts): string {
  const { image } = manager
  const block = (key: string, value: unknown) => indent(writeYaml({ [key]: value }))
  return `# Instead of the chart's name, and instead of RELEASE-CHART, in the names of objects.
nameOverride: ""
fullnameOverride: ""

# The Deployment of the operators.
manager:
  replicas: ${manager.replicas}

  image:
    repository: ${JSON.stringify(image.repository)}
    # Empty for the chart's appVersion.
    tag: ${JSON.stringify(image.tag)}
    pullPolicy: ${image.pullPolicy}

  # The command line; what metrics, webhooks and rbac.namespaced need is added.
${block('args', manager.args)}
${block('env', manager.env)}
${block('imagePullSecrets', manager.imagePullSecrets)}
${block('podSecurityContext', manager.podSecurityContext)}
${block('securityContext', manager.securityContext)}
${block('resources', manager.resources)}
${block('nodeSelector', manager.nodeSelector)}
${block('tolerations', manager.tolerations)}
${block('affinity', manager.affinity)}
# Roles and bindings of the manager.
rbac:
  # Without them, give the rights to the ServiceAccount yourself.
  enable: true
  # Roles in the release's namespace instead of ClusterRoles, and an operator that watches this namespace only.
  namespaced: false
  # Roles for people: admin, editor and viewer of each kind.
  helpers:
    enable: false

serviceAccount:
  # Create it; otherwise name one that exists.
  enable: true
  name: ""
  annotations: {}

crd:
  # Install the CustomResourceDefinitions.
  enable: true
  # Keep them, and so all objects of their kinds, when the release is uninstalled.
  keep: true

# The endpoint for metrics, its Service, and who may read it.
metrics:
  enable: ${parts.hasMetrics}
  port: ${manager.metricsPort}

# Admission and conversion webhooks. Without cert-manager the operator makes and renews their certificates.
webhook:
  enable: ${parts.hasWebhooks}
  port: ${manager.webhookPort}

# An Issuer and a Certificate for the webhooks; needs cert-manager in the cluster.
certManager:
  enable: ${parts.usesCertManager}

# A ServiceMonitor; needs the Prometheus operator in the cluster.
prometheus:
  enable: false

# Only namespaces with the label metrics: enabled reach the metrics.
networkPolicy:
  enable: false
`
}

const indent = (text: string) => text.replaceAll(/^(?=.)/gm, '  ')
