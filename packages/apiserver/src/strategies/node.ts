import { formatAge } from '../handlers/age.ts'
import { isObject, type JsonObject } from '../json.ts'
import type { Strategy } from '../registry/strategy.ts'

const list = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])
const rolePrefix = 'node-role.kubernetes.io/'

export const nodeStrategy: Strategy = {
  fields: object => ({
    'spec.unschedulable': String((object.spec as JsonObject | undefined)?.unschedulable ?? false),
  }),
  cells: printNode,
}

function printNode(object: JsonObject, now: number): readonly unknown[] {
  const metadata = object.metadata as {
    name: string
    creationTimestamp?: string
    labels?: Record<string, string>
  }
  const status = (object.status ?? {}) as JsonObject
  const info = (status.nodeInfo ?? {}) as Record<string, string>
  const ready = list(status.conditions).find(({ type }) => type === 'Ready')?.status
  const state = [ready === 'True' ? 'Ready' : ready === undefined ? 'Unknown' : 'NotReady']
  if ((object.spec as JsonObject | undefined)?.unschedulable) state.push('SchedulingDisabled')
  const roles = Object.keys(metadata.labels ?? {})
    .filter(label => label.startsWith(rolePrefix))
    .map(label => label.slice(rolePrefix.length))
    .sort()
  const address = (type: string) =>
    list(status.addresses).find(found => found.type === type)?.address ?? '<none>'
  return [
    metadata.name,
    state.join(','),
    roles.join(',') || '<none>',
    formatAge(metadata.creationTimestamp, now),
    info.kubeletVersion ?? '',
    address('InternalIP'),
    address('ExternalIP'),
    info.osImage || '<unknown>',
    info.kernelVersion || '<unknown>',
    info.containerRuntimeVersion || '<unknown>',
  ]
}
