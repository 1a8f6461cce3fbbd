import { quoteAll } from '@coxswain/apimachinery/go'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { CommandError } from '../../exit.ts'

/** The authorization flags of `coxswain up`; the names are kube-apiserver's. */
export interface AuthorizationFlags {
  readonly authorizationMode?: readonly string[]
  readonly authorizationPolicyFile?: string
  readonly authorizationWebhookConfigFile?: string
  readonly authorizationWebhookVersion?: string
  readonly authorizationWebhookCacheAuthorizedTtl?: string
  readonly authorizationWebhookCacheUnauthorizedTtl?: string
  readonly authorizationConfig?: string
}

export function addAuthorizationOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--authorization-mode <list>',
        'authorizers in order: AlwaysAllow, AlwaysDeny, ABAC, Webhook, RBAC, Node (default: Node,RBAC)',
      ).argParser(appendList),
    )
    .option('--authorization-policy-file <file>', 'policies of mode ABAC, one JSON object per line')
    .option('--authorization-webhook-config-file <file>', 'kubeconfig of the server of mode Webhook')
    .option(
      '--authorization-webhook-version <version>',
      'version of SubjectAccessReview to send (default: v1beta1)',
    )
    .addOption(ttl('authorized', 'yes', '5m0s'))
    .addOption(ttl('unauthorized', 'no', '30s'))
    .option(
      '--authorization-config <file>',
      'AuthorizationConfiguration, instead of mode and webhook options',
    )
}

function ttl(kind: string, answer: string, preset: string): Option {
  const what = `how long to cache its answer ${answer} (default: ${preset})`
  return new Option(`--authorization-webhook-cache-${kind}-ttl <duration>`, what).argParser(checkDuration)
}

function appendList(text: string, before: readonly string[] = []): string[] {
  return [...before, ...text.split(',').map(item => item.trim())].filter(item => item !== '')
}

/** In Go's format; parsed where it is used, so that other commands do not load the parser. */
function checkDuration(text: string): string {
  if (/^(0|(\d+(\.\d+)?(ns|us|ms|s|m|h))+)$/.test(text)) return text
  throw new InvalidArgumentError('must be a duration such as 10s or 1h30m.')
}

export const authorizationModes = ['AlwaysAllow', 'AlwaysDeny', 'ABAC', 'Webhook', 'RBAC', 'Node'] as const
export const defaultAuthorizationModes: readonly string[] = ['Node', 'RBAC']

/** Throws a usage error, with kube-apiserver's message, for conflicting options. */
export function checkAuthorizationFlags(options: AuthorizationFlags): void {
  const problem = findProblem(options)
  if (problem) throw new CommandError(problem, { exitCode: 2 })
}

function findProblem(options: AuthorizationFlags): string | undefined {
  const { authorizationMode, authorizationPolicyFile: policyFile, authorizationConfig } = options
  const { authorizationWebhookConfigFile: webhookFile } = options
  const hasLegacyFlags =
    authorizationMode !== undefined ||
    webhookFile !== undefined ||
    options.authorizationWebhookVersion !== undefined ||
    options.authorizationWebhookCacheAuthorizedTtl !== undefined ||
    options.authorizationWebhookCacheUnauthorizedTtl !== undefined
  if (authorizationConfig !== undefined)
    return hasLegacyFlags
      ? '--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* flags are defined'
      : undefined
  const modes = authorizationMode ?? defaultAuthorizationModes
  if (modes.length === 0) return 'at least one authorization-mode must be passed'
  for (const mode of modes) {
    if (!(authorizationModes as readonly string[]).includes(mode))
      return `authorization-mode ${JSON.stringify(mode)} is not a valid mode`
    if (mode === 'ABAC' && policyFile === undefined)
      return "authorization-mode ABAC's authorization policy file not passed"
    if (mode === 'Webhook' && webhookFile === undefined)
      return "authorization-mode Webhook's authorization config file not passed"
  }
  if (policyFile !== undefined && !modes.includes('ABAC'))
    return 'cannot specify --authorization-policy-file without mode ABAC'
  if (webhookFile !== undefined && !modes.includes('Webhook'))
    return 'cannot specify --authorization-webhook-config-file without mode Webhook'
  if (new Set(modes).size !== modes.length)
    return `authorization-mode ${quoteAll(modes)} has mode specified more than once`
  return undefined
}
