/**
 * The authorizers that not every server has: loaded when they are asked for.
 *
 * @module
 */
export { type AbacPolicy, createAbacAuthorizer, parseAbacPolicy } from './abac.ts'
export { createNodeAuthorizer } from './node/node-authorizer.ts'
export { compileMatchConditions, type MatchConditions } from './webhook/match-conditions.ts'
export {
  createWebhookAuthorizer,
  type WebhookAuthorizerOptions,
} from './webhook/webhook-authorizer.ts'
