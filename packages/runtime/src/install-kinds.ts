import { definedKindOf, isAlreadyExists, type Kind, toCustomResourceDefinition } from '@coxswain/apimachinery'
import type { Client } from '@coxswain/client'
import { describeOperator, type Operator } from './operator.ts'
import { definitionKind } from './webhook/kinds.ts'

/**
 * Creates the definitions of the kinds that the operators reconcile or have webhooks for, where the server does not have
 * them yet. Only kinds of `defineKind` have any.
 */
export async function installKinds(client: Client, operators: readonly Operator[]): Promise<void> {
  const kinds = new Set<Kind>()
  for (const { controllers, webhooks } of operators.map(describeOperator)) {
    for (const controller of controllers) if (controller.for) kinds.add(controller.for)
    for (const { kind } of webhooks) kinds.add(kind)
  }
  const definitions = new Set([...kinds].map(definedKindOf))
  for (const defined of definitions) {
    if (!defined) continue
    const definition = toCustomResourceDefinition(defined)
    const { name } = definition.metadata
    if (await client.get(definitionKind, { name })) continue
    await client.create(definitionKind, definition).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error
    })
  }
}
