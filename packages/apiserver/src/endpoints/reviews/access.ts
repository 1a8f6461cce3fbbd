import type { FieldError } from '@coxswain/apimachinery/field'
import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { newBadRequest, newInvalid } from '@coxswain/apimachinery/status'
import type { UserInfo } from '../../request/context.ts'
import type { RequestInfo, RequestVerb } from '../../request/request-info.ts'
import {
  validateAccessReview,
  validateLocalAccessReview,
  validateOwnAccessReview,
} from './access-validation.ts'
import type { Review, ReviewPorts } from './review.ts'
import { describeSelectorProblems, readSelectorAttributes } from './selector-attributes.ts'

type ResourceAttributes = Readonly<
  Partial<Record<'verb' | 'group' | 'version' | 'namespace' | 'resource' | 'subresource' | 'name', string>>
>

interface AccessSpec {
  readonly user?: string
  readonly groups?: readonly string[]
  readonly uid?: string
  readonly extra?: Readonly<Record<string, readonly string[]>>
  readonly resourceAttributes?: ResourceAttributes
  readonly nonResourceAttributes?: { readonly path?: string; readonly verb?: string }
}

const specOf = (question: JsonObject): AccessSpec => (question.spec ?? {}) as AccessSpec

/** SubjectAccessReview: may this user do that? */
export const reviewAccess: Review = async (ports, { question }) => {
  refuse(question, validateAccessReview(question))
  return await answer(ports, question, userOf(specOf(question)))
}

/** LocalSubjectAccessReview: may this user do that in this namespace? */
export const reviewLocalAccess: Review = async (ports, { question }) => {
  refuse(question, validateLocalAccessReview(question))
  return await answer(ports, question, userOf(specOf(question)))
}

/** SelfSubjectAccessReview: may I do that? */
export const reviewOwnAccess: Review = async (ports, { question, user }) => {
  refuse(question, validateOwnAccessReview(question))
  return await answer(ports, question, user)
}

/** SelfSubjectRulesReview: what may I do in this namespace? */
export const reviewOwnRules: Review = async ({ authorizer }, { user, question }) => {
  const { kind, apiVersion, spec } = question
  const namespace = isObject(spec) ? spec.namespace : ''
  if (typeof namespace !== 'string' || namespace === '') throw newBadRequest('no namespace on request')
  const rules = await authorizer.rulesFor?.(user, namespace)
  const status = rules ?? {
    resourceRules: [],
    nonResourceRules: [],
    incomplete: true,
    evaluationError: 'the authorizer does not support rule resolution',
  }
  return { kind, apiVersion, metadata: {}, spec: {}, status }
}

/** Upstream omits the kind in these errors. */
function refuse({ apiVersion }: JsonObject, errors: readonly FieldError[]): void {
  const group = String(apiVersion).split('/', 1)[0] ?? ''
  if (errors.length > 0) throw newInvalid({ group, kind: '' }, '', errors)
}

function userOf({ user = '', groups = [], uid, extra }: AccessSpec): UserInfo {
  return { name: user, groups, ...(uid && { uid }), ...(extra && { extra }) }
}

async function answer(
  { authorizer }: ReviewPorts,
  question: JsonObject,
  user: UserInfo,
): Promise<JsonObject> {
  const spec = specOf(question)
  const { verdict, reason, error } = await authorizer({ user, info: infoOf(spec) })
  const problems = [error ?? '', describeSelectorProblems(spec.resourceAttributes as JsonObject | undefined)]
  const evaluationError = problems.filter(text => text !== '').join('; ')
  const status = {
    allowed: verdict === 'allow',
    ...(verdict === 'deny' && { denied: true }),
    ...(reason && { reason }),
    ...(evaluationError !== '' && { evaluationError }),
  }
  return { ...question, status }
}

/** The review as an access. Authorizers accept any verb, even one that no method has. */
function infoOf({ resourceAttributes, nonResourceAttributes }: AccessSpec): RequestInfo {
  if (!resourceAttributes) {
    const { verb = '', path = '' } = nonResourceAttributes ?? {}
    return { isResource: false, verb, path }
  }
  const {
    verb = '',
    group = '',
    version,
    namespace = '',
    resource = '',
    subresource = '',
    name = '',
  } = resourceAttributes
  const selectors = readSelectorAttributes(resourceAttributes as JsonObject)
  return {
    isResource: true,
    verb: verb as RequestVerb,
    group,
    version: version || '*',
    namespace,
    resource,
    subresource,
    name,
    rest: [],
    legacyWatch: false,
    ...(selectors && { selectors }),
  }
}
