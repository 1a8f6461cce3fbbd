import type { Operation } from '@coxswain/storage'
import type { ClaimOperation } from '@coxswain/strategies'
import { encodeStored } from '../cache/stored-object.ts'

/** The store conditions and operations of a claim. */
export function storeOperations(operations: readonly ClaimOperation[] = []): Operation[] {
  return operations.map(operation =>
    operation.type === 'put'
      ? { type: 'put', key: operation.key, value: encodeStored(operation.object) }
      : operation,
  )
}
