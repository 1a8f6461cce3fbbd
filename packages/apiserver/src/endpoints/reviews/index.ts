import type { Review, ReviewPorts } from './review.ts'
/**
 * Reviews: created, answered in the response, and never stored.
 *
 * @module
 */

import { newNotAcceptable } from '@coxswain/apimachinery/status'
import { getHeader, type WireResponse } from '@coxswain/wire'
import type { Endpoint } from '../../registry/registry.ts'
import { negotiate } from '../../request/accept.ts'
import type { ResourceContext } from '../../request/context.ts'
import { parseWriteOptions } from '../../request/write-options.ts'
import { runSteps, type Step, steps } from '../../write/pipeline.ts'
import type { WritePorts } from '../../write/ports.ts'
import { createWrite, type Write } from '../../write/write.ts'
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

/** What the endpoints of reviews need of the server. */
export interface ReviewHandlerPorts extends ReviewPorts {
  readonly write: WritePorts
}

const askedReview: readonly Step<Write>[] = [
  steps.receiveBody,
  steps.decode,
  steps.applyDefaults,
  steps.placeInNamespace,
]
/** The pipelines before and after the review is answered. */
const admittedReview: readonly Step<Write>[] = [steps.mutate]
const answeredReview: readonly Step<Write>[] = [steps.admit]

export type FindReview = (endpoint: Endpoint) => EndpointHandler | undefined

/** Finds the handlers of reviews; undefined for stored resources. */
export function createReviews(ports: ReviewHandlerPorts): FindReview {
  const handlers = new Map(
    Object.entries(reviews).map(([name, review]): [string, EndpointHandler] => [
      name,
      (context, endpoint) => handleReview({ ports, review }, context, endpoint),
    ]),
  )
  return ({ resource }) => handlers.get(`${resource.info.group}/${resource.info.resource}`)
}

async function handleReview(
  { ports, review }: { readonly ports: ReviewHandlerPorts; readonly review: Review },
  context: ResourceContext,
  endpoint: Endpoint,
): Promise<WireResponse> {
  const view = ports.write.reader.view(context, endpoint)
  checkForm(context)
  const options = parseWriteOptions(context, 'CreateOptions')
  const write = createWrite(ports.write, { context, endpoint, options, operation: 'CREATE' })
  await runSteps(askedReview, write)
  const question = write.object
  write.part = { object: question }
  await runSteps(admittedReview, write)
  const answer = await review(ports, { user: context.user, question })
  await runSteps(answeredReview, write)
  return view.object(201, answer)
}

/** A review has no Table or metadata-only form. */
function checkForm({ request }: ResourceContext): void {
  const accepted = negotiate(getHeader(request.headers, 'accept'), () => true)
  if (accepted?.transform)
    throw newNotAcceptable(['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'])
}
