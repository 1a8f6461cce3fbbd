import { CustomResourceDefinition } from '@coxswain/api/apiextensions/v1'
import { definedKindOf, isAlreadyExists, type Kind, toCustomResourceDefinition } from '@coxswain/apimachinery'
import type { Client } from '@coxswain/client'
import { describeOperator, type Operator } from '@coxswain/runtime'

/** Creates the definitions of the kinds that the operators reconcile, where the server does not have them yet. */
export async function installKinds(client: Client, operators: readonly Operator[]): Promise<void> {
  const kinds = new Set<Kind>()
  for (const { controllers } of operators.map(describeOperator)) {
    for (const controller of controllers) if (controller.for) kinds.add(controller.for)
  }
  for (const kind of kinds) {
    const defined = definedKindOf(kind)
    if (!defined) continue
    const definition = toCustomResourceDefinition(defined)
    const { name } = definition.metadata
    if (await client.get(CustomResourceDefinition, { name })) continue
    await client.create(CustomResourceDefinition, definition).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error
    })
  }
}
