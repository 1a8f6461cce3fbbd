import type { Strategy } from '../strategy.ts'
import { createWebhookStrategy } from './webhooks.ts'

export const validatingWebhookConfigurationStrategy: Strategy = createWebhookStrategy('validating')
