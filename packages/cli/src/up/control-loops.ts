import type { Client } from '@coxswain/client'
import {
  createGarbageCollector,
  createNamespaceController,
  createRootCaPublisher,
  createServiceAccountController,
} from '@coxswain/controllers'
import type { Env, TaskGroup } from '@coxswain/kit'
import { createSimulatedNodes } from '@coxswain/node'
import { type Operator, runOperator } from '@coxswain/runtime'
import { CommandError } from '../exit.ts'
import { installKinds } from '../install-kinds.ts'

export interface ControlLoopOptions {
  /** Makes a client that names itself so. */
  readonly connect: (userAgent: string) => Client
  readonly env: Env
  readonly group: TaskGroup
  readonly operators: readonly Operator[]
  /** `*`, names, `-name`; or `none`. */
  readonly controllers: readonly string[]
  readonly nodes: number
  /** PEM of the CA that signed the server's certificate. */
  readonly rootCa: string
}

/** By upstream's names. */
const controllers: Readonly<Record<string, (options: ControlLoopOptions) => Operator>> = {
  'garbage-collector-controller': createGarbageCollector,
  'namespace-controller': createNamespaceController,
  'root-ca-certificate-publisher-controller': ({ rootCa }) => createRootCaPublisher(rootCa),
  'serviceaccount-controller': createServiceAccountController,
}

/** Throws a usage error for a name that is none. */
export function selectControllers(list: readonly string[]): string[] {
  const names = Object.keys(controllers)
  if (list.length === 1 && list[0] === 'none') return []
  for (const item of list) {
    const name = item.replace(/^-/, '')
    if (name !== '*' && !names.includes(name)) {
      throw new CommandError(`--controllers: there is no ${name}; there are ${names.join(', ')}`, {
        exitCode: 2,
      })
    }
  }
  return names.filter(name => !list.includes(`-${name}`) && (list.includes('*') || list.includes(name)))
}

/** Starts controllers, nodes and operators beside the server. Resolves when all of them have been started. */
export async function startControlLoops(options: ControlLoopOptions): Promise<void> {
  const { connect, env, group } = options
  const start = (operator: Operator, userAgent: string) =>
    group.spawn(signal => runOperator(operator, { client: connect(userAgent), env, signal }))
  const selected = selectControllers(options.controllers)
  for (const name of selected) start(controllers[name]!(options), `coxswain-${name}/0.1`)
  if (selected.length > 0 && options.nodes > 0) {
    start(createSimulatedNodes({ count: options.nodes }), 'coxswain-node/0.1')
  }
  if (options.operators.length === 0) return
  await installKinds(connect('coxswain-install/0.1'), options.operators)
  for (const operator of options.operators) start(operator, `${operator.name}/0.1`)
}
