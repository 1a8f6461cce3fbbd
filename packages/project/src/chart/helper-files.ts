import type { ChartNames } from './chart-names.ts'
import { escapeBraces } from './template-text.ts'

/** Names of at most 63 characters: what a release is called, and room for the longest suffix. */
export function helpersFile({ project, prefix, longestSuffix, serviceAccount }: ChartNames): string {
  const account = serviceAccount?.startsWith(prefix)
    ? serviceAccount.slice(prefix.length)
    : 'controller-manager'
  const longest = Math.max(1, 63 - longestSuffix)
  return `{{/* The name of the chart. */}}
{{- define "${project}.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* What the names of all objects begin with. A release that is named after the chart is not named twice. */}}
{{- define "${project}.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride }}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc ${longest} | trimSuffix "-" }}
{{- else if contains $name .Release.Name }}
{{- .Release.Name | trunc ${longest} | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc ${longest} | trimSuffix "-" }}
{{- end }}
{{- end }}

{{/* The name of an object: dict "suffix" "webhook-service" "context" . */}}
{{- define "${project}.resourceName" -}}
{{- printf "%s-%s" (include "${project}.fullname" .context) .suffix }}
{{- end }}

{{- define "${project}.chart" -}}
{{- printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "${project}.serviceAccountName" -}}
{{- if .Values.serviceAccount.enable }}
{{- default (printf "%s-${account}" (include "${project}.fullname" .)) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{/* The tag is the application's version unless values name one; a repository with a digest has none. */}}
{{- define "${project}.image" -}}
{{- $tag := default .Chart.AppVersion .Values.manager.image.tag }}
{{- if contains "@" .Values.manager.image.repository }}
{{- .Values.manager.image.repository }}
{{- else }}
{{- printf "%s:%s" .Values.manager.image.repository $tag }}
{{- end }}
{{- end }}
`
}

export function notesFile(): string {
  return `{{ .Chart.Name }} {{ .Chart.AppVersion }} is installed as {{ .Release.Name }} in {{ .Release.Namespace }}.

  kubectl -n {{ .Release.Namespace }} get deployments,pods -l app.kubernetes.io/instance={{ .Release.Name }}
{{- if and .Values.crd.enable .Values.crd.keep }}

CustomResourceDefinitions, and the objects of their kinds, stay when the release is uninstalled (crd.keep).
{{- end }}
`
}

export const helmIgnoreFile = `.DS_Store
.git/
.gitignore
*.swp
*.bak
*.tmp
*.orig
*~
*.new
.coxswain-chart.json
`

export interface ChartAbout {
  readonly description: string
  readonly version: string
}

export function chartFile({ project }: ChartNames, { description, version }: ChartAbout): string {
  return `apiVersion: v2
name: ${project}
description: ${JSON.stringify(description)}
type: application
version: ${JSON.stringify(version)}
appVersion: ${JSON.stringify(version)}
`
}

/** Lets only who is labelled for it reach the metrics. Webhooks are called by the API server, which has no labels. */
export function networkPolicyFile({ project }: ChartNames): string {
  return `{{- if .Values.networkPolicy.enable }}
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
${metadataOf(project, 'allow-traffic')}
spec:
  podSelector:
    matchLabels:
      app.kubernetes.io/name: ${project}
      app.kubernetes.io/instance: {{ .Release.Name }}
  policyTypes:
  - Ingress
  ingress:
  {{- if .Values.metrics.enable }}
  - from:
    - namespaceSelector:
        matchLabels:
          metrics: enabled
    ports:
    - port: {{ .Values.metrics.port }}
      protocol: TCP
  {{- end }}
  {{- if .Values.webhook.enable }}
  - ports:
    - port: {{ .Values.webhook.port }}
      protocol: TCP
  {{- end }}
{{- end }}
`
}

export function serviceMonitorFile({ project }: ChartNames): string {
  return `{{- if and .Values.prometheus.enable .Values.metrics.enable }}
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
${metadataOf(project, 'controller-manager-metrics-monitor')}
spec:
  endpoints:
  - path: /metrics
    port: https
    scheme: https
    bearerTokenFile: /var/run/secrets/kubernetes.io/serviceaccount/token
    tlsConfig:
      insecureSkipVerify: true
  selector:
    matchLabels:
      control-plane: controller-manager
      app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
`
}

/** For those who leave the certificates of webhooks to cert-manager; without it the operator makes them. */
export function certificateFile({ project, prefix }: ChartNames, service: string): string {
  const suffix = escapeBraces(JSON.stringify(service.slice(prefix.length)))
  const issuer = `{{ include "${project}.resourceName" (dict "suffix" "selfsigned-issuer" "context" .) }}`
  const host = `{{ include "${project}.resourceName" (dict "suffix" ${suffix} "context" .) }}.{{ .Release.Namespace }}.svc`
  return `{{- if and .Values.certManager.enable .Values.webhook.enable }}
apiVersion: cert-manager.io/v1
kind: Issuer
metadata:
  name: ${issuer}
  namespace: {{ .Release.Namespace }}
spec:
  selfSigned: {}
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata:
  name: {{ include "${project}.resourceName" (dict "suffix" "serving-cert" "context" .) }}
  namespace: {{ .Release.Namespace }}
spec:
  dnsNames:
  - ${host}
  - ${host}.cluster.local
  issuerRef:
    kind: Issuer
    name: ${issuer}
  secretName: webhook-server-cert
{{- end }}
`
}

/** The metadata of an object of the release, named after it. */
function metadataOf(project: string, suffix: string): string {
  return `metadata:
  name: {{ include "${project}.resourceName" (dict "suffix" "${suffix}" "context" .) }}
  namespace: {{ .Release.Namespace }}
  labels:
    app.kubernetes.io/name: {{ include "${project}.name" . }}
    app.kubernetes.io/instance: {{ .Release.Name }}
    app.kubernetes.io/managed-by: {{ .Release.Service }}`
}
