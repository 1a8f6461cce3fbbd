import type { Strategy } from '../strategy.ts'
import { createWebhookStrategy } from './webhooks.ts'

export const mutatingWebhookConfigurationStrategy: Strategy = createWebhookStrategy('mutating')
