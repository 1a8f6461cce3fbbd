import type { JsonObject } from '@coxswain/apimachinery/json'

/** For kinds whose labels and annotations do not change with the status: they stay as they were. */
export function keepStatusMetadata(object: JsonObject, old: JsonObject): void {
  const metadata = object.metadata as JsonObject
  const before = old.metadata as JsonObject
  for (const name of ['labels', 'annotations']) {
    if (before[name] === undefined) delete metadata[name]
    else metadata[name] = before[name]
  }
}
