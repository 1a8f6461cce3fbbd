import { metadataOf } from './metadata.ts'
import type { Admitted, Write } from './write.ts'

/** Lets mutating admission change the object, or reject the write. */
export function mutate<W extends Admitted<W>>(write: W): Promise<void> {
  const attributes = write.describe(write)
  write.attributes = attributes
  return write.ports.admission.mutate(attributes)
}

/** Lets validating admission reject the write. */
export function admit<W extends Admitted<W>>({ ports, attributes, generated, object }: W): Promise<void> {
  if (generated) attributes!.name = metadataOf(object).name!
  return ports.admission.validate(attributes!)
}

/** Records in `metadata.managedFields` which manager wrote which fields. */
export function trackManagedFields(write: Write): void {
  const { ports, endpoint, object, old, options, operation } = write
  const tracked = ports.fieldManagers.of(endpoint).update({
    live: old,
    next: object,
    manager: options.fieldManager,
    subresource: operation === 'CREATE' ? '' : write.subresource,
  })
  const { managedFields } = tracked.metadata as { managedFields?: unknown }
  const metadata = metadataOf(object)
  if (managedFields === undefined) delete metadata.managedFields
  else metadata.managedFields = managedFields
}
