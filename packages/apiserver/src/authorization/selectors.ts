import {
  type FieldRequirement,
  parseFieldSelector,
  parseLabelSelector,
  type Requirement,
} from '@coxswain/apimachinery/selectors'
import { isValidPathSegmentName } from '@coxswain/apimachinery/validation'
import type { RequestContext } from '../request/context.ts'
import type { RequestInfo, ResourceRequestInfo } from '../request/request-info.ts'

const selecting = new Set(['list', 'watch', 'deletecollection'])

/**
 * A request's info as authorizers see it: with the selectors of a collection, and with the name of the one object that a
 * field selector selects. The request's own info when it has none.
 */
export function infoForAuthorization({ info, query }: RequestContext): RequestInfo {
  if (!info.isResource || info.name !== '' || !selecting.has(info.verb)) return info
  const fieldText = query.get('fieldSelector')
  const labelText = query.get('labelSelector')
  if (!fieldText && !labelText) return info
  const fields = fieldText ? readFields(fieldText) : undefined
  const labels = labelText ? readLabels(labelText) : undefined
  const selectors = { ...(fields && { fields }), ...(labels && { labels }) }
  return {
    ...info,
    // A deletecollection is never for one name, and the legacy watch paths have no selectors.
    name: info.verb === 'deletecollection' || info.legacyWatch ? '' : (fields && findName(fields)) || '',
    ...(!info.legacyWatch && (fields || labels) && { selectors }),
  }
}

function findName(fields: readonly FieldRequirement[]): string | undefined {
  const found = fields.find(({ field, operator }) => field === 'metadata.name' && operator !== '!=')
  return found && isValidPathSegmentName(found.value).length === 0 ? found.value : undefined
}

export function readFields(text: string): readonly FieldRequirement[] | undefined {
  try {
    const { requirements } = parseFieldSelector(text)
    return requirements.length > 0 ? requirements : undefined
  } catch {
    return undefined
  }
}

export function readLabels(text: string): readonly Requirement[] | undefined {
  try {
    const { requirements } = parseLabelSelector(text)
    return requirements.length > 0 ? requirements : undefined
  } catch {
    return undefined
  }
}

/** The value that the selectors of a request require a field to have. */
export function requiredField({ selectors }: ResourceRequestInfo, name: string): string | undefined {
  return selectors?.fields?.find(({ field, operator }) => field === name && operator !== '!=')?.value
}
