import { isNotFound } from '@coxswain/apimachinery/status'

/** For a write to an object that may be deleted in the meantime: then there is nothing left to do. */
export function ignoreDeleted(error: unknown): void {
  if (!isNotFound(error)) throw error
}
