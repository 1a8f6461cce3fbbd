import { builtinResources } from '@coxswain/api'
import type { ResourceInfo, VersionInfo } from '@coxswain/apimachinery/kinds'
import { sampleNames, samples } from '../../tools/coverage/samples.ts'

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

/** Every built-in kind at every version. */
export function builtinTargets(): readonly Target[] {
  return builtinResources().flatMap(info =>
    info.versions.flatMap(version => {
      if (!version.verbs.includes('create')) return []
      const name = `${info.group ? `${info.group}/` : ''}${version.name}/${info.resource}`
      return [targetOf({ name, info, version, sample: samples[name] ?? {} })]
    }),
  )
}

export function targetOf({ name, info, version, sample }: Omit<Target, 'path'>): Target {
  const root = info.group ? `/apis/${info.group}/${version.name}` : `/api/${version.name}`
  const path = info.namespaced ? `${root}/namespaces/default/${info.resource}` : `${root}/${info.resource}`
  const apiVersion = info.group ? `${info.group}/${version.name}` : version.name
  const metadata = { name: sampleNames[name] ?? 'grown', ...(info.namespaced && { namespace: 'default' }) }
  return { name, info, version, path, sample: { apiVersion, kind: info.kind, metadata, ...sample } }
}
