import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { memberOf } from './member.ts'
import { type Block, escapeBraces, optionalValue, type TemplateText } from './template-text.ts'

/** What values.yaml says about the manager, as its Deployment has it. */
export interface ManagerValues {
  readonly replicas: number
  readonly image: { readonly repository: string; readonly tag: string; readonly pullPolicy: string }
  readonly args: readonly string[]
  readonly env: readonly unknown[]
  readonly resources: JsonObject
  readonly podSecurityContext: JsonObject
  readonly securityContext: JsonObject
  readonly nodeSelector: JsonObject
  readonly affinity: JsonObject
  readonly tolerations: readonly unknown[]
  readonly imagePullSecrets: readonly unknown[]
  readonly metricsPort: number
  readonly webhookPort: number
}

/** Where cert-manager's certificate of the webhooks is mounted. */
const certificatePath = '/tmp/k8s-webhook-server/serving-certs'

interface ManagerParts {
  readonly pod: JsonObject
  readonly container: JsonObject
}

function partsOf(deployment: JsonObject): ManagerParts {
  const template = memberOf(memberOf(deployment, 'spec'), 'template')
  const pod = memberOf(template, 'spec')
  const containers = (Array.isArray(pod.containers) ? pod.containers : []).filter(isObject)
  const container = containers.find(each => each.name === 'manager') ?? containers[0] ?? {}
  return { pod, container }
}

export function readManager(deployment: JsonObject): ManagerValues {
  const { pod, container } = partsOf(deployment)
  const image = String(container.image ?? 'controller:latest')
  const colon = image.lastIndexOf(':')
  const hasTag = colon > image.lastIndexOf('/') && !image.includes('@')
  const list = (value: unknown) => (Array.isArray(value) ? value : [])
  const map = (value: unknown) => (isObject(value) ? value : {})
  return {
    replicas: Number(memberOf(deployment, 'spec').replicas ?? 1),
    image: {
      repository: hasTag ? image.slice(0, colon) : image,
      tag: hasTag ? image.slice(colon + 1) : '',
      pullPolicy: String(container.imagePullPolicy ?? 'IfNotPresent'),
    },
    args: list(container.args)
      .map(String)
      .filter(arg => !/^--(?:metrics-bind-address|webhook-)/.test(arg)),
    env: list(container.env),
    resources: map(container.resources),
    podSecurityContext: map(pod.securityContext),
    securityContext: map(container.securityContext),
    nodeSelector: map(pod.nodeSelector),
    affinity: map(pod.affinity),
    tolerations: list(pod.tolerations),
    imagePullSecrets: list(pod.imagePullSecrets),
    metricsPort: portOf(container, 'metrics') ?? 8443,
    webhookPort: portOf(container, 'webhook-server') ?? 9443,
  }
}

function portOf({ ports }: JsonObject, name: string): number | undefined {
  const found = (Array.isArray(ports) ? ports : []).filter(isObject).find(port => port.name === name)
  return typeof found?.containerPort === 'number' ? found.containerPort : undefined
}

/** The Deployment with what values.yaml decides. Fields that it does not know stay as they are. */
export function templateManager(deployment: JsonObject, project: string, template: TemplateText): JsonObject {
  const { pod, container } = partsOf(deployment)
  const value = (key: string, path = key) => ({
    [key]: template.block(optionalValue(key, `.Values.manager.${path}`)),
  })
  const managed = {
    name: container.name, // first, because blocks cannot begin an item of a list
    ...container,
    image: template.expression(`include "${project}.image" . | quote`),
    imagePullPolicy: template.expression('.Values.manager.image.pullPolicy'),
    args: template.block(argumentLines(container)),
    ...value('env'),
    ...value('resources'),
    ...value('securityContext'),
    ports: template.block(portLines(container)),
    volumeMounts: template.block(mountLines(container)),
  }
  const containers = (Array.isArray(pod.containers) ? pod.containers : []).map(each =>
    each === container ? managed : each,
  )
  const podSpec = {
    ...pod,
    containers,
    ...value('imagePullSecrets'),
    securityContext: template.block(optionalValue('securityContext', '.Values.manager.podSecurityContext')),
    ...value('nodeSelector'),
    ...value('affinity'),
    ...value('tolerations'),
    volumes: template.block(volumeLines(pod)),
  }
  const spec = memberOf(deployment, 'spec')
  const podTemplate = memberOf(spec, 'template')
  return {
    ...deployment,
    spec: {
      ...spec,
      replicas: template.expression('.Values.manager.replicas'),
      template: { ...podTemplate, spec: podSpec },
    },
  } as JsonObject
}

function argumentLines({ args }: JsonObject) {
  const given = (Array.isArray(args) ? args : []).map(String)
  const webhook = given.filter(arg => arg.startsWith('--webhook-') && !arg.startsWith('--webhook-port'))
  const hasMetrics = given.some(arg => arg.startsWith('--metrics-bind-address'))
  return (indent: string) => [
    `${indent}args:`,
    `${indent}{{- range .Values.manager.args }}`,
    `${indent}- {{ . | quote }}`,
    `${indent}{{- end }}`,
    `${indent}{{- if .Values.rbac.namespaced }}`,
    `${indent}- --namespaces={{ .Release.Namespace }}`,
    `${indent}{{- end }}`,
    ...(hasMetrics
      ? [
          `${indent}- --metrics-bind-address={{ if .Values.metrics.enable }}:{{ .Values.metrics.port }}{{ else }}0{{ end }}`,
        ]
      : []),
    ...(webhook.length === 0
      ? []
      : [
          `${indent}{{- if .Values.webhook.enable }}`,
          `${indent}- --webhook-port={{ .Values.webhook.port }}`,
          ...webhook.map(arg => `${indent}- ${escapeBraces(arg)}`),
          `${indent}{{- if .Values.certManager.enable }}`,
          `${indent}- --webhook-cert-path=${certificatePath}`,
          `${indent}{{- end }}`,
          `${indent}{{- end }}`,
        ]),
  ]
}

function portLines({ ports }: JsonObject) {
  const given = (Array.isArray(ports) ? ports : []).filter(isObject)
  const conditions: Readonly<Record<string, string>> = { metrics: 'metrics', 'webhook-server': 'webhook' }
  return (indent: string) => [
    ...(given.length > 0 ? [`${indent}ports:`] : []),
    ...given.flatMap(port => {
      const value = conditions[String(port.name)]
      const number = value === undefined ? String(port.containerPort) : `{{ .Values.${value}.port }}`
      const lines = [
        `${indent}- containerPort: ${number}`,
        `${indent}  name: ${port.name}`,
        `${indent}  protocol: ${port.protocol ?? 'TCP'}`,
      ]
      return value === undefined
        ? lines
        : [`${indent}{{- if .Values.${value}.enable }}`, ...lines, `${indent}{{- end }}`]
    }),
  ]
}

const mountLines = ({ volumeMounts }: JsonObject) =>
  listWithCertificate('volumeMounts', volumeMounts, [
    `- mountPath: ${certificatePath}`,
    '  name: webhook-certs',
    '  readOnly: true',
  ])

const volumeLines = ({ volumes }: JsonObject) =>
  listWithCertificate('volumes', volumes, [
    '- name: webhook-certs',
    '  secret:',
    '    secretName: webhook-server-cert',
  ])

/** The list of the Deployment, and the certificate of cert-manager unless the list has it already. */
function listWithCertificate(key: string, value: unknown, certificate: readonly string[]): Block {
  const given = Array.isArray(value) ? value : []
  const items = given.map(each => `- ${escapeBraces(JSON.stringify(each))}`)
  const has = given.some(each => isObject(each) && each.name === 'webhook-certs')
  const begin = '{{- if and .Values.webhook.enable .Values.certManager.enable }}'
  const end = '{{- end }}'
  const lines = has
    ? [`${key}:`, ...items]
    : given.length > 0
      ? [`${key}:`, ...items, begin, ...certificate, end]
      : [begin, `${key}:`, ...certificate, end]
  return indent => lines.map(line => `${indent}${line}`)
}
