import { CommandError } from '../exit.ts'

/** The controllers there are, by upstream's names. */
export const controllerNames = [
  'certificatesigningrequest-signing-controller',
  'clusterrole-aggregation-controller',
  'deployment-controller',
  'garbage-collector-controller',
  'namespace-controller',
  'node-lifecycle-controller',
  'replicaset-controller',
  'replicationcontroller-controller',
  'root-ca-certificate-publisher-controller',
  'serviceaccount-controller',
  'serviceaccount-token-controller',
] as const

export type ControllerName = (typeof controllerNames)[number]

/** Those that are part of the API server here, since they need its schemas. */
const serverControllerNames = ['validatingadmissionpolicy-status-controller'] as const

export type ServerControllerName = (typeof serverControllerNames)[number]

const allNames: readonly string[] = [...controllerNames, ...serverControllerNames]

/** Reads `--controllers`: `*`, names, `-name`, or `none`. Throws a usage error for a name that is none. */
export function selectControllers(list: readonly string[]): readonly ControllerName[] {
  if (list.length === 1 && list[0] === 'none') return []
  for (const item of list) {
    const name = item.replace(/^-/, '')
    if (name === '*' || allNames.includes(name)) continue
    throw new CommandError(`--controllers: there is no ${name}; there are ${allNames.join(', ')}`, {
      exitCode: 2,
    })
  }
  return controllerNames.filter(name => isSelected(list, name))
}

/** Reads the same list for what runs inside the server. */
export function selectServerControllers(list: readonly string[]): readonly ServerControllerName[] {
  if (list.length === 1 && list[0] === 'none') return []
  return serverControllerNames.filter(name => isSelected(list, name))
}

function isSelected(list: readonly string[], name: string): boolean {
  return !list.includes(`-${name}`) && (list.includes('*') || list.includes(name))
}
