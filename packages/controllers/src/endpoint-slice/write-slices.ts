import { EndpointSlice } from '@coxswain/api/discovery/v1'
import type { Kind } from '@coxswain/apimachinery/kinds'
import type { ApiObject, DeepReadonly } from '@coxswain/apimachinery/meta'
import { isNotFound } from '@coxswain/apimachinery/status'
import { isDNS1123Subdomain } from '@coxswain/apimachinery/validation'
import { controllerReference } from '@coxswain/kinds'
import type { OperatorClient } from '@coxswain/runtime'
import { isNamespaceTerminating } from '../pods/pod-control.ts'
import type { SliceDraft, SlicePlan, SliceView } from './slice-plan.ts'

export const serviceNameLabel = 'kubernetes.io/service-name'
export const managedByLabel = 'endpointslice.kubernetes.io/managed-by'

/** What all slices of one owner and address type have in common. */
export interface SliceTemplate {
  readonly ownerKind: Kind
  readonly owner: DeepReadonly<ApiObject>
  readonly addressType: 'IPv4' | 'IPv6'
  readonly labels: Readonly<Record<string, string>>
  /** Whether an updated slice is rebuilt under its name, with this owner and without `generateName`. @default false */
  readonly rebuilds?: boolean
  /** Computed from those of the existing slice, if any. */
  readonly annotate: (
    annotations: Readonly<Record<string, string>> | undefined,
  ) => Readonly<Record<string, string>>
}

/** Whether `owner` created it: an earlier one may have had the same name. */
export function isSliceOf({ metadata }: SliceView, kind: Kind, owner: DeepReadonly<ApiObject>): boolean {
  return (metadata.ownerReferences ?? []).some(
    reference => reference.uid === owner.metadata.uid && reference.kind === kind.kind,
  )
}

/** Executes a plan. Creates nothing for an owner that is terminating. */
export async function writeSlices(
  client: OperatorClient,
  plan: SlicePlan,
  template: SliceTemplate,
): Promise<void> {
  const { owner } = template
  if (!owner.metadata.deletionTimestamp) {
    for (const draft of plan.create) {
      try {
        await client.create(EndpointSlice, newSlice(draft, template))
      } catch (error) {
        if (isNamespaceTerminating(error)) return
        throw error
      }
    }
  }
  for (const { slice, ports, endpoints } of plan.update) {
    const { annotations: before, generateName, ...metadata } = slice.metadata
    const annotations = template.annotate(before)
    const own = template.rebuilds
      ? { ownerReferences: [controllerReference(template.ownerKind, owner)] }
      : { ...(generateName !== undefined && { generateName }) }
    await client.update(EndpointSlice, {
      ...slice,
      metadata: { ...metadata, ...own, labels: template.labels, annotations },
      ports,
      endpoints,
    })
  }
  for (const slice of plan.delete) await deleteSlice(client, slice)
}

export async function deleteSlice(client: OperatorClient, { metadata }: SliceView): Promise<void> {
  const { namespace = '', name, uid } = metadata
  try {
    await client.delete(EndpointSlice, { namespace, name }, { preconditions: { uid } })
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

function newSlice({ ports, endpoints }: SliceDraft, template: SliceTemplate) {
  const { owner, ownerKind, addressType, labels, annotate } = template
  const { namespace = '', name } = owner.metadata
  const annotations = annotate(undefined)
  return {
    metadata: {
      generateName: isDNS1123Subdomain(`${name}-a`).length === 0 ? `${name}-` : name,
      namespace,
      labels,
      ...(Object.keys(annotations).length > 0 && { annotations }),
      ownerReferences: [controllerReference(ownerKind, owner)],
    },
    addressType,
    ports,
    endpoints,
  }
}
