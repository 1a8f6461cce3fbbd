import type { Node } from '@coxswain/api/core/v1'
import type { Decoded } from '../decoded.ts'
import { ageCell, nameCell } from '../shared/cells.ts'
import type { TableCells } from '../strategy.ts'

const rolePrefix = 'node-role.kubernetes.io/'
const roleLabel = 'kubernetes.io/role'

export function printNode(object: Decoded<Node>, now: number): TableCells {
  const status = object.status ?? {}
  const info = status.nodeInfo ?? {}
  const ready = (status.conditions ?? []).findLast(({ type }) => type === 'Ready')?.status
  const state = [ready === undefined ? 'Unknown' : ready === 'True' ? 'Ready' : 'NotReady']
  if (object.spec?.unschedulable) state.push('SchedulingDisabled')
  const address = (type: string) =>
    (status.addresses ?? []).find(found => found.type === type)?.address ?? '<none>'
  const architecture = info.architecture ? ` (${info.architecture})` : ''
  return {
    Name: nameCell(object),
    Status: state.join(','),
    Roles: rolesOf(object).join(',') || '<none>',
    Age: ageCell(object, now),
    Version: info.kubeletVersion ?? '',
    'Internal-IP': address('InternalIP'),
    'External-IP': address('ExternalIP'),
    'OS-Image': info.osImage || '<unknown>',
    'Kernel-Version': `${info.kernelVersion || '<unknown>'}${architecture}`,
    'Container-Runtime': info.containerRuntimeVersion || '<unknown>',
  }
}

function rolesOf(object: Decoded<Node>): string[] {
  const roles = new Set<string>()
  for (const [label, value] of Object.entries(object.metadata.labels ?? {})) {
    if (label.startsWith(rolePrefix)) roles.add(label.slice(rolePrefix.length))
    else if (label === roleLabel) roles.add(value)
  }
  roles.delete('')
  return [...roles].sort()
}
