import { writeJsonBytes } from '@coxswain/apimachinery/json'
import { durationToMilliseconds, parseDuration } from '@coxswain/apimachinery/time'
import { readYaml } from '@coxswain/apimachinery/yaml'
import {
  type AuditBackend,
  type Auditing,
  createBatchingBackend,
  OutboundPool,
  readAuditPolicy,
  truncateEvent,
} from '@coxswain/apiserver/audit'
import type { Env } from '@coxswain/kit'
import { CommandError } from '../../exit.ts'
import type { AuditFlags } from '../options/audit-options.ts'
import { readFlagFile } from '../options/flag-file.ts'
import { socketOutbound } from '../outbound.ts'
import { createAuditLog } from './audit-log.ts'
import { readWebhookKubeconfig } from './webhook-kubeconfig.ts'

const sendTimeout = 30_000

/** Undefined when auditing is off. The caller disposes of the backends. */
export async function createAuditing(flags: AuditFlags, env: Env): Promise<Auditing | undefined> {
  const { auditPolicyFile, auditLogPath, auditWebhookConfigFile } = flags
  if (auditLogPath === undefined && auditWebhookConfigFile === undefined) return undefined
  if (auditPolicyFile === undefined)
    throw new CommandError('an audit log needs --audit-policy-file: without a policy no events are written', {
      exitCode: 2,
    })
  const policy = readPolicy(auditPolicyFile)
  const backends: AuditBackend[] = []
  if (auditLogPath !== undefined) backends.push(createAuditLog({ ...flags, path: auditLogPath }, env))
  if (auditWebhookConfigFile !== undefined)
    backends.push(createWebhookBackend(flags, auditWebhookConfigFile, env))
  return { policy, backends }
}

function readPolicy(file: string): Auditing['policy'] {
  return readFlagFile('audit-policy-file', file, text => readAuditPolicy(readYaml(text)?.value))
}

function createWebhookBackend(flags: AuditFlags, file: string, env: Env): AuditBackend {
  const { target, path, headers } = readWebhookKubeconfig('audit-webhook-config-file', file)
  const pool = new OutboundPool({ env, outbound: socketOutbound, userAgent: 'kube-apiserver-audit' })
  const batches = createBatchingBackend({
    clock: env.clock,
    log: env.log,
    name: 'webhook',
    bufferSize: flags.auditWebhookBatchBufferSize,
    maxSize: flags.auditWebhookBatchMaxSize,
    maxWait: durationToMilliseconds(parseDuration(flags.auditWebhookBatchMaxWait)),
    send: async events => {
      const items = events.flatMap(
        event => truncateEvent(event, flags.auditWebhookTruncateMaxEventSize) ?? [],
      )
      const list = { kind: 'EventList', apiVersion: 'audit.k8s.io/v1', metadata: {}, items }
      const body = writeJsonBytes(list)
      const result = await pool.post({ target, path, headers, body, timeout: sendTimeout })
      if (!result.ok) throw new Error(result.reason)
    },
  })
  return {
    write: event => batches.write(event),
    async [Symbol.asyncDispose]() {
      await batches[Symbol.asyncDispose]()
      await pool[Symbol.asyncDispose]()
    },
  }
}
