import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { ProjectError } from '../errors.ts'
import type { GeneratedFile } from '../files/generated-file.ts'
import { type ChartNames, findNames, nameOf, renameObject } from './chart-names.ts'
import {
  certificateFile,
  chartFile,
  helmIgnoreFile,
  helpersFile,
  networkPolicyFile,
  notesFile,
  serviceMonitorFile,
} from './helper-files.ts'
import { labelObject } from './labels.ts'
import { readManager, templateManager } from './manager.ts'
import { memberOf } from './member.ts'
import { type Place, placeOf } from './place.ts'
import { TemplateText } from './template-text.ts'
import { valuesFile } from './values-file.ts'

/** What a chart is made from. */
export interface ChartInput {
  /** Of the chart: a DNS label, and what the names of objects begin with (`namePrefix`). */
  readonly name: string
  /** A semantic version, for the chart and the application. */
  readonly version: string
  readonly description?: string
  /** The project's manifests: what config/default builds. */
  readonly objects: readonly JsonObject[]
}

/**
 * Writes a Helm chart from manifests, in the layout of kubebuilder's: names and namespaces become those of the release, and values switch parts on and off.
 * Throws `BadProject`.
 */
export function generateChart({ name, version, description, objects }: ChartInput): GeneratedFile[] {
  if (!/^[a-z](?:[a-z0-9-]{0,51}[a-z0-9])?$/.test(name))
    throw new ProjectError(
      'BadProject',
      `${JSON.stringify(name)} cannot be the name of a chart: lower case letters, digits and -, at most 53`,
    )
  if (!/^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/.test(version))
    throw new ProjectError(
      'BadProject',
      `${JSON.stringify(version)} is not a semantic version, which a chart needs, for example 0.1.0`,
    )
  const manager = findManager(objects)
  if (manager === undefined)
    throw new ProjectError('BadProject', 'the manifests have no Deployment: what would the chart install?')
  const names = findNames(name, objects)
  const services = objects.filter(object => object.kind === 'Service')
  const webhookService = services.map(nameOf).find(each => /webhook/.test(each))
  const hasWebhooks =
    objects.some(object => /WebhookConfiguration$/.test(String(object.kind))) || webhookService !== undefined
  const usesCertManager = objects.some(object => groupOf(object) === 'cert-manager.io')
  const hasMetrics = services.some(service => /metrics/.test(nameOf(service)))
  const parts = { hasMetrics, hasWebhooks, usesCertManager }
  const has = (kind: string) => objects.some(object => object.kind === kind)
  const files = new Map<string, string>([
    ['Chart.yaml', chartFile(names, { description: description ?? `The operators of ${name}`, version })],
    ['values.yaml', valuesFile(readManager(manager), parts)],
    ['.helmignore', helmIgnoreFile],
    ['templates/_helpers.tpl', helpersFile(names)],
    ['templates/NOTES.txt', notesFile()],
    ...(has('NetworkPolicy')
      ? []
      : [['templates/network-policy/allow-traffic.yaml', networkPolicyFile(names)] as const]),
    ...(has('ServiceMonitor') || !hasMetrics
      ? []
      : [['templates/prometheus/monitor.yaml', serviceMonitorFile(names)] as const]),
    ...(usesCertManager || webhookService === undefined
      ? []
      : [['templates/cert-manager/serving-cert.yaml', certificateFile(names, webhookService)] as const]),
  ])
  for (const object of objects) {
    if (object.kind === 'Namespace') continue // helm --create-namespace
    const place = placeOf(object, names, objects)
    const text = templateObject(object, { names, place, isManager: object === manager, usesCertManager })
    const path = files.has(place.path)
      ? place.path.replace(/\.yaml$/, `-${String(object.kind).toLowerCase()}.yaml`)
      : place.path
    files.set(path, text)
  }
  return [...files].map(([path, content]) => ({ path, content }))
}

interface ObjectContext {
  readonly names: ChartNames
  readonly place: Place
  readonly isManager: boolean
  readonly usesCertManager: boolean
}

function templateObject(
  object: JsonObject,
  { names, place, isManager, usesCertManager }: ObjectContext,
): string {
  const template = new TemplateText()
  const labelled = labelObject(renameObject(object, names, template), names.project, template)
  const managed = isManager ? templateManager(labelled, names.project, template) : labelled
  const changed = place.change?.(managed, template) ?? managed
  const final = usesCertManager ? changed : injectCertificate(changed, names, template)
  const text = template.write(final)
  return place.condition === undefined ? text : `{{- if ${place.condition} }}\n${text}{{- end }}\n`
}

/** cert-manager writes the CA bundle of what names its Certificate. */
function injectCertificate(object: JsonObject, { project }: ChartNames, template: TemplateText): JsonObject {
  if (!/WebhookConfiguration$/.test(String(object.kind))) return object
  const metadata = memberOf(object, 'metadata')
  const name = `{{ .Release.Namespace }}/{{ include "${project}.resourceName" (dict "suffix" "serving-cert" "context" .) }}`
  const annotations = template.block(indent => [
    `${indent}{{- if .Values.certManager.enable }}`,
    `${indent}annotations:`,
    `${indent}  cert-manager.io/inject-ca-from: ${name}`,
    `${indent}{{- end }}`,
  ])
  return { ...object, metadata: { ...metadata, annotations } } as JsonObject
}

/** The Deployment that kubebuilder's label marks, or the only one. */
function findManager(objects: readonly JsonObject[]): JsonObject | undefined {
  const deployments = objects.filter(object => object.kind === 'Deployment')
  const isMarked = (object: JsonObject) => {
    const labels = memberOf(memberOf(object, 'metadata'), 'labels')
    return isObject(labels) && labels['control-plane'] === 'controller-manager'
  }
  return deployments.find(isMarked) ?? deployments[0]
}

const groupOf = ({ apiVersion }: JsonObject) => String(apiVersion).split('/')[0]
