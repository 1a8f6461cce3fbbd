import type { JsonObject } from '@coxswain/apimachinery/json'
import { ageCell, nameCell } from '../shared/cells.ts'
import { listOf, objectOf, recordOf, textOf } from '../shared/reading.ts'

const rolePrefix = 'node-role.kubernetes.io/'
const roleLabel = 'kubernetes.io/role'

export function printNode(object: JsonObject, now: number): readonly unknown[] {
  const status = objectOf(object.status)
  const info = recordOf(status.nodeInfo)
  const ready = listOf(status.conditions).findLast(({ type }) => type === 'Ready')?.status
  const state = [ready === undefined ? 'Unknown' : ready === 'True' ? 'Ready' : 'NotReady']
  if (objectOf(object.spec).unschedulable) state.push('SchedulingDisabled')
  const address = (type: string) =>
    listOf(status.addresses).find(found => found.type === type)?.address ?? '<none>'
  const architecture = info.architecture ? ` (${info.architecture})` : ''
  return [
    nameCell(object),
    state.join(','),
    rolesOf(object).join(',') || '<none>',
    ageCell(object, now),
    textOf(info.kubeletVersion),
    address('InternalIP'),
    address('ExternalIP'),
    info.osImage || '<unknown>',
    `${info.kernelVersion || '<unknown>'}${architecture}`,
    info.containerRuntimeVersion || '<unknown>',
  ]
}

function rolesOf(object: JsonObject): string[] {
  const roles = new Set<string>()
  for (const [label, value] of Object.entries(recordOf((object.metadata as JsonObject).labels))) {
    if (label.startsWith(rolePrefix)) roles.add(label.slice(rolePrefix.length))
    else if (label === roleLabel) roles.add(value)
  }
  roles.delete('')
  return [...roles].sort()
}
