import type { Review } from './review.ts'
/**
 * Reviews: questions that are asked with a create and answered at once. Nothing is stored.
 *
 * @module
 */

import { newNotAcceptable } from '@coxswain/apimachinery/status'
import { getHeader, type WireResponse } from '@coxswain/wire'
import { createAttributes, writeOptionsObject } from '../../admission/create-attributes.ts'
import { View } from '../../read/view.ts'
import type { Endpoint } from '../../registry/registry.ts'
import { negotiate } from '../../request/accept.ts'
import type { ResourceContext } from '../../request/context.ts'
import { parseWriteOptions } from '../../request/write-options.ts'
import { readBody } from '../../write/body.ts'
import { kindOf } from '../../write/create.ts'
import { receiveObject } from '../../write/incoming.ts'
import { placeInNamespace } from '../../write/lifecycle.ts'
import type { EndpointHandler } from '../endpoint-handler.ts'
import { reviewAccess, reviewLocalAccess, reviewOwnAccess, reviewOwnRules } from './access.ts'
import { reviewSelf, reviewToken } from './identity.ts'

/** By `GROUP/RESOURCE`. */
const reviews: Readonly<Record<string, Review>> = {
  'authentication.k8s.io/selfsubjectreviews': reviewSelf,
  'authentication.k8s.io/tokenreviews': reviewToken,
  'authorization.k8s.io/localsubjectaccessreviews': reviewLocalAccess,
  'authorization.k8s.io/selfsubjectaccessreviews': reviewOwnAccess,
  'authorization.k8s.io/selfsubjectrulesreviews': reviewOwnRules,
  'authorization.k8s.io/subjectaccessreviews': reviewAccess,
}

/** Undefined for resources that are stored. */
export function findReviewHandler({ resource }: Endpoint): EndpointHandler | undefined {
  const review = reviews[`${resource.info.group}/${resource.info.resource}`]
  return review && ((context, endpoint) => handleReview(context, endpoint, review))
}

async function handleReview(
  ...[context, endpoint, review]: [...Parameters<EndpointHandler>, Review]
): Promise<WireResponse> {
  const view = new View(context, endpoint)
  checkForm(context)
  const { resource } = endpoint
  const { state, info } = context
  const options = parseWriteOptions(context, 'CreateOptions')
  const body = readBody(context, false, kindOf(endpoint))
  const question = receiveObject(context, endpoint, body, options)
  placeInNamespace(resource, question, info.namespace)
  const attributes = createAttributes(context, endpoint, {
    operation: 'CREATE',
    object: question,
    oldObject: undefined,
    dryRun: options.dryRun,
    options: writeOptionsObject(context, 'CreateOptions'),
  })
  await state.admission.mutate(attributes)
  const answer = await review(context, question)
  await state.admission.validate(attributes)
  return view.object(201, answer)
}

/** An answer has no rows and no metadata to show instead of it. */
function checkForm({ request }: ResourceContext): void {
  const accepted = negotiate(getHeader(request.headers, 'accept'), () => true)
  if (accepted?.transform)
    throw newNotAcceptable(['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'])
}
