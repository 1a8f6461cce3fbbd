import { parseFieldSelector, parseLabelSelector } from '@coxswain/apimachinery/selectors'
import { newBadRequest } from '@coxswain/apimachinery/status'
import type { StoredObject } from '../cache/stored-object.ts'
import { findServed } from '../registry/convert.ts'
import type { Endpoint } from '../registry/registry.ts'
import { fieldsOf } from './selectable-fields.ts'

export interface Matcher {
  /** Whether every object matches. */
  readonly all: boolean
  /** The only name that can match, when the field selector requires one. */
  readonly name: string | undefined
  matches(object: StoredObject): boolean
}

/** Parses the label and field selectors of a request. Throws a 400 in upstream's words. */
export function createMatcher(
  endpoint: Endpoint,
  selectors: { labelSelector: string; fieldSelector: string },
): Matcher {
  const { labels, fields } = parseSelectors(endpoint, selectors)
  const needsLabels = !labels.isEmpty
  const needsFields = !fields.isEmpty
  return {
    all: !needsLabels && !needsFields,
    name: fields.requiresExactMatch('metadata.name'),
    matches: stored => {
      if (!needsLabels && !needsFields) return true
      const object = findServed(endpoint, stored) ?? stored
      return (
        (!needsLabels || labels.matches(object.labels)) &&
        (!needsFields || fields.matches(fieldsOf(endpoint.resource, object)))
      )
    },
  }
}

function parseSelectors(endpoint: Endpoint, selectors: { labelSelector: string; fieldSelector: string }) {
  const known = ['metadata.name', 'metadata.namespace', ...endpoint.version.selectableFields]
  let labels: ReturnType<typeof parseLabelSelector>
  let fields: ReturnType<typeof parseFieldSelector>
  try {
    labels = parseLabelSelector(selectors.labelSelector)
    fields = parseFieldSelector(selectors.fieldSelector)
  } catch (error) {
    throw newBadRequest(error instanceof Error ? error.message : String(error))
  }
  for (const { field } of fields.requirements) {
    if (known.includes(field)) continue
    throw newBadRequest(endpoint.resource.unknownField(endpoint.version, field))
  }
  return { labels, fields }
}
