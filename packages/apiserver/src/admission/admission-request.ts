import type { JsonObject } from '@coxswain/apimachinery/json'
import type { UserInfo } from '../request/context.ts'
import type { Attributes } from './attributes.ts'
import { kindOf, namespaceOf, resourceOf } from './create-attributes.ts'
import type { Equivalent } from './matching/equivalents.ts'

/** Kinds that configure admission. They are exempt: a webhook that could reject its own removal would lock everyone out. */
const exempt = new Set([
  'mutatingadmissionpolicies',
  'mutatingadmissionpolicybindings',
  'mutatingwebhookconfigurations',
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
  'validatingwebhookconfigurations',
])

export function isAdmissionConfiguration({ resource: { info } }: Attributes): boolean {
  return info.group === 'admissionregistration.k8s.io' && exempt.has(info.resource)
}

/** An AdmissionRequest without uid and objects; `matched` is the resource that the webhook's rule matched. */
export function createAdmissionRequest(attributes: Attributes, matched: Equivalent): JsonObject {
  const { subresource, name, operation, dryRun, user, options } = attributes
  const namespace = namespaceOf(attributes)
  return {
    kind: { ...matched.kind },
    resource: { ...matched.resource },
    ...(subresource !== '' && { subResource: subresource }),
    requestKind: { ...kindOf(attributes) },
    requestResource: { ...resourceOf(attributes) },
    ...(subresource !== '' && { requestSubResource: subresource }),
    ...(name !== '' && { name }),
    ...(namespace !== '' && { namespace }),
    operation,
    userInfo: userInfoObject(user),
    dryRun,
    options: options ?? null,
  }
}

function userInfoObject({ name, uid, groups, extra }: UserInfo): JsonObject {
  return {
    ...(name !== '' && { username: name }),
    ...(uid && { uid }),
    ...(groups.length > 0 && { groups }),
    ...(extra && Object.keys(extra).length > 0 && { extra }),
  }
}
