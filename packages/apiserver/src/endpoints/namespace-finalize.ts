import { deepClone } from '@coxswain/apimachinery/json'
import { newInvalid } from '@coxswain/apimachinery/status'
import { validateNamespaceFinalizers } from '@coxswain/strategies'
import type { WireResponse } from '@coxswain/wire'
import type { Endpoint } from '../registry/registry.ts'
import type { ResourceContext } from '../request/context.ts'
import { parseWriteOptions } from '../request/write-options.ts'
import { changeStored } from '../write/change-stored.ts'
import { metadataOf } from '../write/metadata.ts'
import { replacedObject, runSteps, type Step, steps } from '../write/pipeline.ts'
import type { WritePorts } from '../write/ports.ts'
import { createWrite, type Write } from '../write/write.ts'

interface FinalizeWrite extends Write {
  readonly finalizers: string[]
}

const receiveSteps: readonly Step<Write>[] = [
  steps.receiveBody,
  steps.decode,
  steps.applyDefaults,
  steps.checkName,
  steps.placeInNamespace,
]

/** Run with the present namespace, and again from the start when a concurrent write changed it. */
export const finalizeSteps: readonly Step<FinalizeWrite>[] = [
  steps.checkVersion,
  { name: 'validate finalizers', run: validateFinalizers },
  ...replacedObject,
  { name: 'set finalizers', run: setFinalizers },
]

/** Replaces a namespace's `spec.finalizers`; a terminating namespace without finalizers is deleted. */
export async function finalizeNamespace(
  ports: WritePorts,
  context: ResourceContext,
  endpoint: Endpoint,
): Promise<WireResponse> {
  const view = ports.reader.view(context, endpoint)
  const options = parseWriteOptions(context, 'UpdateOptions')
  const received = createWrite(ports, { context, endpoint, options, operation: 'UPDATE' })
  await runSteps(receiveSteps, received)
  const namespace = received.object
  const { finalizers = [] } = (namespace.spec ?? {}) as { finalizers?: string[] }
  const { resourceVersion } = metadataOf(namespace)
  const write: FinalizeWrite = {
    ...received,
    finalizers,
    expected: { resourceVersion },
    conditional: Boolean(resourceVersion),
  }
  const result = await changeStored(write, finalizeSteps, () => {
    write.object = deepClone(namespace)
  })
  return view.object(200, result)
}

function validateFinalizers({ context, endpoint, finalizers }: FinalizeWrite): void {
  const errors = validateNamespaceFinalizers(finalizers)
  if (errors.length > 0) throw newInvalid(endpoint.resource.info, context.info.name, errors)
}

/** An update cannot change them, so they are set last. */
function setFinalizers({ object, finalizers }: FinalizeWrite): void {
  object.spec = finalizers.length > 0 ? { finalizers } : {}
}
