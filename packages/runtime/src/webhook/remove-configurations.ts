import type { Client } from '@coxswain/client'
import type { ConfigurationReference } from './configurations.ts'
import { mutatingKind, validatingKind } from './kinds.ts'
import { isSameReplica, type Replica, replicaOf } from './replica.ts'

const kinds = {
  MutatingWebhookConfiguration: mutatingKind,
  ValidatingWebhookConfiguration: validatingKind,
}

/** Removes those of the configurations that still point to this replica. */
export async function removeConfigurations(
  client: Client,
  references: readonly ConfigurationReference[],
  replica: Replica,
): Promise<void> {
  for (const { kind, name } of references) {
    const existing = await client.get(kinds[kind], { name })
    const isThere = (existing?.webhooks ?? []).every(({ clientConfig }) =>
      isSameReplica(replicaOf(clientConfig), replica),
    )
    if (!existing || !isThere) continue
    const { uid, resourceVersion } = existing.metadata
    await client.delete(kinds[kind], { name }, { preconditions: { uid, resourceVersion } })
  }
}
