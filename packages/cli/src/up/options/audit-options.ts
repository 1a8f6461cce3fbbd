import { type Command, InvalidArgumentError, Option } from 'commander'
import { checkDuration } from './authentication-options.ts'

/** What `coxswain up` may be told about its audit log; the names are kube-apiserver's. */
export interface AuditFlags {
  readonly auditPolicyFile?: string
  readonly auditLogPath?: string
  readonly auditLogFormat: 'json' | 'legacy'
  readonly auditLogMaxsize: number
  readonly auditLogMaxbackup: number
  readonly auditLogMaxage: number
  readonly auditWebhookConfigFile?: string
  readonly auditWebhookBatchBufferSize: number
  readonly auditWebhookBatchMaxSize: number
  readonly auditWebhookBatchMaxWait: string
  readonly auditWebhookTruncateMaxEventSize: number
}

export function addAuditOptions(command: Command): Command {
  return command
    .option('--audit-policy-file <file>', 'Policy of audit.k8s.io/v1: what is written to the audit log')
    .option('--audit-log-path <file>', 'where audit events go, one a line; - is standard output')
    .addOption(
      new Option('--audit-log-format <format>', 'how they are written')
        .choices(['json', 'legacy'])
        .default('json'),
    )
    .addOption(count('--audit-log-maxsize <megabytes>', 'size at which a new file is begun; 0 for none', 100))
    .addOption(count('--audit-log-maxbackup <n>', 'how many old files are kept; 0 keeps all', 0))
    .addOption(count('--audit-log-maxage <days>', 'how long old files are kept; 0 forever', 0))
    .option('--audit-webhook-config-file <file>', 'kubeconfig of a server that audit events are sent to')
    .addOption(
      count('--audit-webhook-batch-buffer-size <n>', 'events that wait at most; more are dropped', 10_000),
    )
    .addOption(count('--audit-webhook-batch-max-size <n>', 'events sent together', 400))
    .addOption(
      new Option('--audit-webhook-batch-max-wait <duration>', 'how long a batch waits to be full')
        .default('30s')
        .argParser(checkDuration),
    )
    .addOption(
      count(
        '--audit-webhook-truncate-max-event-size <bytes>',
        'of larger events only what is known without the objects is sent',
        102_400,
      ),
    )
}

function count(flags: string, description: string, preset: number): Option {
  return new Option(flags, description).default(preset).argParser(text => {
    if (/^\d+$/.test(text)) return Number(text)
    throw new InvalidArgumentError('a whole number that is not negative is needed.')
  })
}
