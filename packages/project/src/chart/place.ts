import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { writeYaml } from '@coxswain/apimachinery/yaml'
import { type ChartNames, nameOf } from './chart-names.ts'
import { memberOf } from './member.ts'
import { escapeBraces, type TemplateText } from './template-text.ts'

/** Where an object stands in the chart, and when it is installed. */
export interface Place {
  readonly path: string
  /** Of an `if`; undefined for always. */
  readonly condition?: string
  readonly change?: (object: JsonObject, template: TemplateText) => JsonObject
}

/** The folders are kubebuilder's. */
export function placeOf(object: JsonObject, names: ChartNames, objects: readonly JsonObject[]): Place {
  const name = nameOf(object)
  const short = (name.startsWith(names.prefix) ? name.slice(names.prefix.length) : name).replaceAll(':', '-')
  const at = (folder: string) => `templates/${folder}/${short}.yaml`
  const kind = String(object.kind)
  const group = String(object.apiVersion).split('/')[0]
  if (kind === 'CustomResourceDefinition')
    return { path: at('crd'), condition: '.Values.crd.enable', change: keepDefinition }
  if (kind === 'ServiceAccount')
    return name === names.serviceAccount
      ? { path: at('rbac'), condition: '.Values.serviceAccount.enable', change: annotateAccount }
      : { path: at('rbac') }
  if (group === 'rbac.authorization.k8s.io') return placeRole(object, at('rbac'), objects)
  if (group === 'cert-manager.io')
    return { path: at('cert-manager'), condition: '.Values.certManager.enable' }
  if (group === 'monitoring.coreos.com')
    return { path: at('prometheus'), condition: '.Values.prometheus.enable' }
  if (kind === 'NetworkPolicy')
    return { path: at('network-policy'), condition: '.Values.networkPolicy.enable' }
  if (/WebhookConfiguration$/.test(kind)) {
    const suffix = kind.replace(/(?!^)[A-Z]/g, letter => `-${letter}`).toLowerCase()
    return { path: `templates/webhook/${short}-${suffix}.yaml`, condition: '.Values.webhook.enable' }
  }
  if (kind === 'Service' && /webhook/.test(short))
    return {
      path: at('webhook'),
      condition: '.Values.webhook.enable',
      change: targetPort('.Values.webhook.port'),
    }
  if (kind === 'Service' && /metrics/.test(short))
    return { path: at('metrics'), condition: '.Values.metrics.enable', change: metricsPort }
  if (kind === 'Deployment')
    return {
      path:
        names.names.includes(name) && /controller-manager$/.test(name)
          ? 'templates/manager/manager.yaml'
          : at('manager'),
    }
  return { path: at('extras') }
}

/** Helper roles are bound to no account; roles for metrics are cluster-wide, because token reviews are. */
function placeRole(object: JsonObject, path: string, objects: readonly JsonObject[]): Place {
  const name = nameOf(object)
  const kind = String(object.kind)
  const isBound = objects.some(each => memberOf(each, 'roleRef').name === name)
  const rbac = '.Values.rbac.enable'
  if (/metrics/.test(name)) return { path, condition: `and ${rbac} .Values.metrics.enable` }
  if (/webhook/.test(name)) return { path, condition: `and ${rbac} .Values.webhook.enable` }
  if (kind === 'ClusterRole' && !isBound)
    return { path, condition: `and ${rbac} .Values.rbac.helpers.enable` }
  if (kind === 'ClusterRole' || kind === 'ClusterRoleBinding')
    return { path, condition: rbac, change: maybeNamespaced }
  return { path, condition: rbac }
}

const keepAnnotation = 'helm.sh/resource-policy'

function keepDefinition(object: JsonObject, template: TemplateText): JsonObject {
  const metadata = memberOf(object, 'metadata')
  const given = Object.entries(memberOf(metadata, 'annotations'))
  const annotations = template.block(indent => [
    ...(given.length > 0 ? [`${indent}annotations:`] : []),
    ...given.map(([key, value]) => `${indent}  ${escapeBraces(`${key}: ${JSON.stringify(value)}`)}`),
    `${indent}{{- if .Values.crd.keep }}`,
    ...(given.length > 0 ? [] : [`${indent}annotations:`]),
    `${indent}  ${keepAnnotation}: keep`,
    `${indent}{{- end }}`,
  ])
  const spec = memberOf(object, 'spec')
  const { conversion } = spec
  const isCalled = memberOf(spec, 'conversion').strategy === 'Webhook'
  const converted = template.block(indent => [
    `${indent}{{- if .Values.webhook.enable }}`,
    ...escapeBraces(writeYaml({ conversion }))
      .trimEnd()
      .split('\n')
      .map(line => `${indent}${line}`),
    `${indent}{{- end }}`,
  ])
  return {
    ...object,
    metadata: { ...metadata, annotations },
    ...(isCalled && { spec: { ...spec, conversion: converted } }),
  } as JsonObject
}

function annotateAccount(object: JsonObject, template: TemplateText): JsonObject {
  const annotations = template.block(indent => [
    `${indent}{{- with .Values.serviceAccount.annotations }}`,
    `${indent}annotations:`,
    `${indent}  {{- toYaml . | nindent ${indent.length + 2} }}`,
    `${indent}{{- end }}`,
  ])
  return { ...object, metadata: { ...memberOf(object, 'metadata'), annotations } } as JsonObject
}

/** A Role of the release's namespace where values ask for it. */
function maybeNamespaced(object: JsonObject, template: TemplateText): JsonObject {
  const either = (kind: string) =>
    template.expression(`ternary "${kind.slice('Cluster'.length)}" "${kind}" .Values.rbac.namespaced`)
  const namespace = template.block(indent => [
    `${indent}{{- if .Values.rbac.namespaced }}`,
    `${indent}namespace: {{ .Release.Namespace }}`,
    `${indent}{{- end }}`,
  ])
  const roleRef = memberOf(object, 'roleRef')
  return {
    ...object,
    kind: either(String(object.kind)),
    metadata: { ...memberOf(object, 'metadata'), namespace },
    ...(object.roleRef !== undefined && { roleRef: { ...roleRef, kind: either(String(roleRef.kind)) } }),
  } as JsonObject
}

function metricsPort(object: JsonObject, template: TemplateText): JsonObject {
  const port = template.expression('.Values.metrics.port')
  return mapPorts(object, each => ({ ...each, port, targetPort: port }))
}

const targetPort = (value: string) => (object: JsonObject, template: TemplateText) =>
  mapPorts(object, each => ({ ...each, targetPort: template.expression(value) }))

function mapPorts(object: JsonObject, map: (port: JsonObject) => JsonObject): JsonObject {
  const spec = memberOf(object, 'spec')
  const ports = (Array.isArray(spec.ports) ? spec.ports : []).filter(isObject).map(map)
  return { ...object, spec: { ...spec, ports } } as JsonObject
}
