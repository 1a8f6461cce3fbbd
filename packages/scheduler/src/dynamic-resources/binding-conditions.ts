import { isStatusConditionTrue } from '@coxswain/apimachinery/meta'
import type { ClaimView } from './device-id.ts'

/** Whether a driver has to prepare any of the devices before a pod may be bound. */
export function hasBindingConditions({ status }: ClaimView): boolean {
  return status?.allocation?.devices?.results?.some(result => result.bindingConditions?.length) === true
}

/** Whether all devices of a claim are ready. Throws an Error if a driver reports a binding failure. */
export function isReadyForBinding({ metadata, status }: ClaimView): boolean {
  for (const result of status?.allocation?.devices?.results ?? []) {
    const { bindingConditions = [], bindingFailureConditions = [] } = result
    if (bindingConditions.length === 0) continue
    const found = status?.devices?.find(
      ({ driver, pool, device }) =>
        driver === result.driver && pool === result.pool && device === result.device,
    )
    if (!found) return false
    const conditions = found.conditions ?? []
    const failed = conditions.find(
      ({ type, status: value }) => value === 'True' && bindingFailureConditions.includes(type),
    )
    if (failed)
      throw new Error(
        `device binding failed: claim=${metadata.name}, reason=${failed.reason}, message=${JSON.stringify(failed.message)}`,
      )
    if (!bindingConditions.every(type => isStatusConditionTrue([...conditions], type))) return false
  }
  return true
}

/** Whether its devices did not become ready within `timeout` milliseconds. */
export function isOverdue(claim: ClaimView, now: number, timeout: number): boolean {
  const since = claim.status?.allocation?.allocationTimestamp
  return since !== undefined && hasBindingConditions(claim) && Date.parse(since) + timeout < now
}
