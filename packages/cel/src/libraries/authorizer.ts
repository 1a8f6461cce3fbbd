import { type Library, overload } from '../functions.ts'
import { type CelType, opaqueOf } from '../types.ts'
import { fault, type OpaqueValue, type Value } from '../values.ts'

/** What an expression asks the authorizer. */
export interface AuthorizationCheck {
  /** Set where the check is for another user than the request's. */
  readonly serviceAccount?: { readonly namespace: string; readonly name: string }
  readonly verb: string
  /** A non-resource path; the other fields are then absent. */
  readonly path?: string
  readonly group?: string
  readonly resource?: string
  readonly subresource?: string
  readonly namespace?: string
  readonly name?: string
  readonly fieldSelector?: string
  readonly labelSelector?: string
}

/** The authorizer's answer. */
export interface AuthorizationDecision {
  readonly allowed: boolean
  readonly reason: string
  /** What went wrong; absent where the decision could be made. */
  readonly error?: string
}

/** Who decides: supplied by the caller, asked synchronously. */
export type Authorize = (check: AuthorizationCheck) => AuthorizationDecision

/** The type of the variable `authorizer`. */
export const authorizerType: CelType = opaqueOf('kubernetes.authorization.Authorizer')
const pathCheckType: CelType = opaqueOf('kubernetes.authorization.PathCheck')
const groupCheckType: CelType = opaqueOf('kubernetes.authorization.GroupCheck')
/** What `authorizer.requestResource` is. */
export const requestResourceType: CelType = opaqueOf('kubernetes.authorization.ResourceCheck')
const resourceCheckType = requestResourceType
const decisionType: CelType = opaqueOf('kubernetes.authorization.Decision')

class CheckValue implements OpaqueValue {
  readonly celType: CelType
  readonly authorize: Authorize
  readonly check: Omit<AuthorizationCheck, 'verb'>
  constructor(celType: CelType, authorize: Authorize, check: Omit<AuthorizationCheck, 'verb'>) {
    this.celType = celType
    this.authorize = authorize
    this.check = check
  }
  equals(other: Value): boolean {
    return other === this
  }
  with(celType: CelType, part: Omit<AuthorizationCheck, 'verb'>): CheckValue {
    return new CheckValue(celType, this.authorize, { ...this.check, ...part })
  }
}

class DecisionValue implements OpaqueValue {
  readonly celType: CelType = decisionType
  readonly decision: AuthorizationDecision
  constructor(decision: AuthorizationDecision) {
    this.decision = decision
  }
  equals(other: Value): boolean {
    return other === this
  }
}

/** The value of the variable `authorizer`. */
export function authorizerValue(authorize: Authorize): OpaqueValue {
  return new CheckValue(authorizerType, authorize, {})
}

/** The value of `authorizer.requestResource`. */
export function requestResourceValue(
  authorize: Authorize,
  resource: Omit<AuthorizationCheck, 'verb'>,
): OpaqueValue {
  return new CheckValue(resourceCheckType, authorize, resource)
}

function nonEmpty(text: string, what: string): string {
  return text === '' ? fault(`${what} must not be empty`) : text
}

const auth = 'kubernetes.authorization'
const [authorizer, pathCheck, groupCheck, resourceCheck, decision] = [
  'Authorizer',
  'PathCheck',
  'GroupCheck',
  'ResourceCheck',
  'Decision',
].map(name => `${auth}.${name}`)

const decide = (check: CheckValue, verb: string): DecisionValue =>
  new DecisionValue(check.authorize({ ...check.check, verb }))

function refine(
  field: 'subresource' | 'namespace' | 'name' | 'fieldSelector' | 'labelSelector',
): (check: CheckValue, text: string) => CheckValue {
  return (check, text) => check.with(resourceCheckType, { [field]: text })
}

export const authorizerLibrary: Library = {
  name: 'kubernetes.authz',
  types: [authorizerType, pathCheckType, groupCheckType, resourceCheckType, decisionType],
  overloads: [
    overload(
      'authorizer_path',
      `path(this ${authorizer}, string): ${pathCheck}`,
      (a: CheckValue, path: string) => a.with(pathCheckType, { path: nonEmpty(path, 'path') }),
    ),
    overload(
      'authorizer_group',
      `group(this ${authorizer}, string): ${groupCheck}`,
      (a: CheckValue, group: string) => a.with(groupCheckType, { group }),
    ),
    overload(
      'authorizer_serviceaccount',
      `serviceAccount(this ${authorizer}, string, string): ${authorizer}`,
      (a: CheckValue, namespace: string, name: string) =>
        a.with(authorizerType, { serviceAccount: { namespace, name } }),
    ),
    overload(
      'groupcheck_resource',
      `resource(this ${groupCheck}, string): ${resourceCheck}`,
      (g: CheckValue, resource: string) =>
        g.with(resourceCheckType, { resource: nonEmpty(resource, 'resource') }),
    ),
    ...(['subresource', 'namespace', 'name'] as const).map(field =>
      overload(
        `resourcecheck_${field}`,
        `${field}(this ${resourceCheck}, string): ${resourceCheck}`,
        refine(field),
      ),
    ),
    ...(['fieldSelector', 'labelSelector'] as const).map(field =>
      overload(
        `authorizer_${field.toLowerCase()}`,
        `${field}(this ${resourceCheck}, string): ${resourceCheck}`,
        refine(field),
      ),
    ),
    overload('pathcheck_check', `check(this ${pathCheck}, string): ${decision}`, decide),
    overload('resourcecheck_check', `check(this ${resourceCheck}, string): ${decision}`, decide),
    overload(
      'decision_errored',
      `errored(this ${decision}): bool`,
      (d: DecisionValue) => d.decision.error !== undefined,
    ),
    overload(
      'decision_error',
      `error(this ${decision}): string`,
      (d: DecisionValue) => d.decision.error ?? '',
    ),
    overload('decision_allowed', `allowed(this ${decision}): bool`, (d: DecisionValue) => d.decision.allowed),
    overload('decision_reason', `reason(this ${decision}): string`, (d: DecisionValue) => d.decision.reason),
  ],
}
