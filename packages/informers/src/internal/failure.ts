import {
  isExpired,
  isInvalid,
  isMethodNotSupported,
  isNotFound,
  isTooLargeResourceVersion,
} from '@coxswain/apimachinery/status'
import type { Failure } from '../transition.ts'

/** Classifies an error for a reflector. */
export function classify(error: unknown): Failure {
  if (isExpired(error)) return 'expired'
  if (isTooLargeResourceVersion(error)) return 'ahead'
  if (isInvalid(error) || isMethodNotSupported(error)) return 'unsupported'
  if (isNotFound(error)) return 'absent'
  return 'other'
}
