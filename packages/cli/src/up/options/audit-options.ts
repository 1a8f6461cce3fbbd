import { type Command, InvalidArgumentError, Option } from 'commander'
import { checkDuration } from './authentication-options.ts'

/** The audit flags of `coxswain up`; the names are kube-apiserver's. */
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
    .option(
      '--audit-policy-file <file>',
      'Policy of audit.k8s.io/v1: which events are written to the audit log',
    )
    .option('--audit-log-path <file>', 'file for audit events, one per line; - for standard output')
    .addOption(
      new Option('--audit-log-format <format>', 'format of the audit log')
        .choices(['json', 'legacy'])
        .default('json'),
    )
    .addOption(
      count('--audit-log-maxsize <megabytes>', 'size at which the file is rotated; 0 for never', 100),
    )
    .addOption(count('--audit-log-maxbackup <n>', 'number of old files to keep; 0 keeps all', 0))
    .addOption(count('--audit-log-maxage <days>', 'how long to keep old files; 0 for forever', 0))
    .option('--audit-webhook-config-file <file>', 'kubeconfig of a server that audit events are sent to')
    .addOption(
      count('--audit-webhook-batch-buffer-size <n>', 'the most buffered events; more are dropped', 10_000),
    )
    .addOption(count('--audit-webhook-batch-max-size <n>', 'the most events in a batch', 400))
    .addOption(
      new Option('--audit-webhook-batch-max-wait <duration>', 'how long to wait for a batch to fill')
        .default('30s')
        .argParser(checkDuration),
    )
    .addOption(
      count(
        '--audit-webhook-truncate-max-event-size <bytes>',
        'larger events are sent without request and response objects',
        102_400,
      ),
    )
}

function count(flags: string, description: string, preset: number): Option {
  return new Option(flags, description).default(preset).argParser(text => {
    if (/^\d+$/.test(text)) return Number(text)
    throw new InvalidArgumentError('must be a non-negative integer.')
  })
}
