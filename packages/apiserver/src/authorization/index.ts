/**
 * The authorizers that are loaded only when configured: Node, ABAC and Webhook.
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
