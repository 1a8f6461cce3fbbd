import type { JsonObject } from '@coxswain/apimachinery/json'
import { compileSchema } from '@coxswain/apimachinery/schema'
import type { Endpoint } from './registry.ts'

/** Fills in the schema's defaults and the kind's own. Changes nothing the second time. */
export function applyDefaults({ resource, version }: Endpoint, object: JsonObject): void {
  if (resource.custom) compileSchema(version.schema()).applyDefaults(object)
  else resource.strategy.default?.(object)
}
