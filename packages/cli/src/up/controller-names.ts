import { CommandError } from '../exit.ts'

/** The controllers there are, by upstream's names. */
export const controllerNames = [
  'garbage-collector-controller',
  'namespace-controller',
  'root-ca-certificate-publisher-controller',
  'serviceaccount-controller',
] as const

export type ControllerName = (typeof controllerNames)[number]

/** Reads `--controllers`: `*`, names, `-name`, or `none`. Throws a usage error for a name that is none. */
export function selectControllers(list: readonly string[]): readonly ControllerName[] {
  if (list.length === 1 && list[0] === 'none') return []
  for (const item of list) {
    const name = item.replace(/^-/, '')
    if (name === '*' || (controllerNames as readonly string[]).includes(name)) continue
    throw new CommandError(`--controllers: there is no ${name}; there are ${controllerNames.join(', ')}`, {
      exitCode: 2,
    })
  }
  return controllerNames.filter(
    name => !list.includes(`-${name}`) && (list.includes('*') || list.includes(name)),
  )
}
