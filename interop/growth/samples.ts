import { builtinResources } from '@coxswain/api'
import type { ResourceInfo, VersionInfo } from '@coxswain/apimachinery/kinds'
import { samples } from '../../tools/coverage/samples.ts'

/** A kind that clients write, and the smallest valid object of it. */
export interface Target {
  /** `apps/v1/deployments` */
  readonly name: string
  readonly info: ResourceInfo
  readonly version: VersionInfo
  /** Of the collection. */
  readonly path: string
  readonly sample: object
}

const oneRule = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }

/** Of kinds whose tables of coverage are made otherwise. */
const more: Readonly<Record<string, object>> = {
  'apiregistration.k8s.io/v1/apiservices': {
    spec: {
      group: 'example.com',
      version: 'v1',
      groupPriorityMinimum: 1,
      versionPriority: 1,
      service: { namespace: 'default', name: 'a' },
      insecureSkipTLSVerify: true,
    },
  },
  'apiextensions.k8s.io/v1/customresourcedefinitions': {
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'grown', singular: 'grown', kind: 'Grown', listKind: 'GrownList' },
      versions: [
        { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
      ],
    },
  },
  'events.k8s.io/v1/events': {
    eventTime: '2026-01-01T00:00:00.000000Z',
    reportingController: 'example.com/a',
    reportingInstance: 'a',
    action: 'Act',
    reason: 'Tested',
    type: 'Normal',
    regarding: { namespace: 'default' },
  },
  'certificates.k8s.io/v1/certificatesigningrequests': {
    spec: { request: '', signerName: 'example.com/signer', usages: ['client auth'] },
  },
  'networking.k8s.io/v1/ipaddresses': {
    spec: { parentRef: { resource: 'services', name: 'a', namespace: 'default' } },
  },
  'networking.k8s.io/v1/servicecidrs': { spec: { cidrs: ['10.200.0.0/24'] } },
  'admissionregistration.k8s.io/v1/validatingadmissionpolicies': {
    spec: { matchConstraints: { resourceRules: [oneRule] }, validations: [{ expression: 'true' }] },
  },
  'admissionregistration.k8s.io/v1/validatingadmissionpolicybindings': {
    spec: { policyName: 'none', validationActions: ['Deny'] },
  },
  'admissionregistration.k8s.io/v1/mutatingadmissionpolicies': {
    spec: {
      matchConstraints: { resourceRules: [oneRule] },
      reinvocationPolicy: 'Never',
      mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'Object{}' } }],
    },
  },
  'admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings': { spec: { policyName: 'none' } },
  'resource.k8s.io/v1/resourceslices': {
    spec: {
      driver: 'example.com',
      nodeName: 'a',
      pool: { name: 'a', generation: 1, resourceSliceCount: 1 },
      devices: [{ name: 'a' }],
    },
  },
  'flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations': {
    spec: { type: 'Limited', limited: { nominalConcurrencyShares: 1, limitResponse: { type: 'Reject' } } },
  },
}

/** Names that have to be of a form. */
const names: Readonly<Record<string, string>> = {
  'apiregistration.k8s.io/v1/apiservices': 'v1.example.com',
  'apiextensions.k8s.io/v1/customresourcedefinitions': 'grown.example.com',
  'networking.k8s.io/v1/ipaddresses': '10.97.0.9',
}

/** Every built-in kind at every version. */
export function builtinTargets(): readonly Target[] {
  return builtinResources().flatMap(info =>
    info.versions.flatMap(version => {
      if (!version.verbs.includes('create')) return []
      const name = `${info.group ? `${info.group}/` : ''}${version.name}/${info.resource}`
      return [targetOf({ name, info, version, sample: samples[name] ?? more[name] ?? {} })]
    }),
  )
}

export function targetOf({ name, info, version, sample }: Omit<Target, 'path'>): Target {
  const root = info.group ? `/apis/${info.group}/${version.name}` : `/api/${version.name}`
  const path = info.namespaced ? `${root}/namespaces/default/${info.resource}` : `${root}/${info.resource}`
  const apiVersion = info.group ? `${info.group}/${version.name}` : version.name
  const metadata = { name: names[name] ?? 'grown', ...(info.namespaced && { namespace: 'default' }) }
  return { name, info, version, path, sample: { apiVersion, kind: info.kind, metadata, ...sample } }
}
