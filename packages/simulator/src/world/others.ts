import { CustomResourceDefinition } from '@coxswain/api/apiextensions/v1'
import { Namespace } from '@coxswain/api/core/v1'
import { isStatusError } from '@coxswain/apimachinery/status'
import { type Client, kindFor } from '@coxswain/client'
import type { Clock } from '@coxswain/kit'
import type { Fault } from '../fault.ts'
import { parseApiPath, type WriteRecord } from './trace.ts'

/** What `edit` adds to objects; never compared. */
export const touchedAnnotation = 'simulator.coxswain.dev/touched'
const heldFinalizer = 'simulator.coxswain.dev/held'
/** How long a finalizer of another client stays, in milliseconds. */
const holdTime = 20_000

/** Another client of the cluster. */
export interface Other {
  readonly client: Client
  readonly clock: Clock
}

/** Does what another client does right after a write. What the server rejects does not happen. */
export async function interfere(other: Other, fault: Fault, write: WriteRecord): Promise<void> {
  await perform(other, fault, write).catch(ignoreRejection)
}

function ignoreRejection(error: unknown): void {
  if (!isStatusError(error)) throw error
}

async function perform(
  { client, clock }: Other,
  fault: Fault,
  { path, object }: Pick<WriteRecord, 'path' | 'object'>,
): Promise<void> {
  const { group, version, resource, namespace, name } = parseApiPath(path)
  const metadata = (object?.metadata ?? {}) as {
    readonly name?: string
    readonly labels?: object
    readonly finalizers?: string[]
  }
  const target = name ?? metadata.name
  if (target === undefined) return
  const kind = kindFor({ group, version, resource, kind: resource, namespaced: namespace !== undefined })
  const key = { name: target, ...(namespace !== undefined && { namespace }) }
  const patch = (changes: object) => client.patch(kind, key, { metadata: changes }, { type: 'merge' })
  if (fault.fault === 'terminate-namespace') {
    if (namespace !== undefined && namespace !== 'default')
      await client.delete(Namespace, { name: namespace })
  } else if (fault.fault === 'upgrade-definition') await upgrade(client, `${resource}.${group}`)
  else if (fault.fault === 'edit') {
    if (fault.edit === 'annotate') await patch({ annotations: { [touchedAnnotation]: 'true' } })
    else if (fault.edit === 'label')
      await patch({
        labels: Object.fromEntries(Object.keys(metadata.labels ?? {}).map(label => [label, null])),
      })
    else if (fault.edit === 'finalizer') {
      const { finalizers = [] } = metadata
      await patch({ finalizers: [...finalizers, heldFinalizer] })
      const release = async () => {
        const present = await client.get(kind, key)
        const left = present?.metadata.finalizers?.filter(each => each !== heldFinalizer)
        if (left) await patch({ finalizers: left })
      }
      clock.after(holdTime, () => void release().catch(ignoreRejection))
    } else await client.delete(kind, key)
  }
}

/** Adds an optional field to the status of every version, as a new release of the operator would. */
async function upgrade(client: Client, name: string): Promise<void> {
  const crd = await client.get(CustomResourceDefinition, { name })
  if (!crd) return
  const labels = { ...crd.metadata.labels, [touchedAnnotation]: 'true' }
  const versions = crd.spec.versions.map(version => ({
    ...version,
    additionalPrinterColumns: [
      ...(version.additionalPrinterColumns ?? []),
      { name: 'Touched', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    ],
  }))
  await client.update(CustomResourceDefinition, {
    ...crd,
    metadata: { ...crd.metadata, labels },
    spec: { ...crd.spec, versions },
  })
}
