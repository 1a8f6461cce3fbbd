import type { JsonObject } from '@coxswain/apimachinery/json'
import { formatAge } from '@coxswain/apimachinery/time'

interface PrintedMetadata {
  readonly name: string
  readonly creationTimestamp?: string
}

export const nameCell = (object: JsonObject): string => (object.metadata as PrintedMetadata).name

export const ageCell = (object: JsonObject, now: number): string =>
  formatAge((object.metadata as PrintedMetadata).creationTimestamp, now)

/** How many members an object or list has. */
export const countCell = (value: unknown): number =>
  typeof value === 'object' && value !== null ? Object.keys(value).length : 0
