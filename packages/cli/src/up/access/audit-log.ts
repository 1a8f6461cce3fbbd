import {
  appendFileSync,
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
} from 'node:fs'
import { basename, dirname, extname, join, resolve } from 'node:path'
import { writeJson } from '@coxswain/apimachinery/json'
import type { AuditBackend, AuditEvent } from '@coxswain/apiserver/audit'
import type { Env } from '@coxswain/kit'
import { makeDirectories } from '@coxswain/kit/node'
import { CommandError, explainSystemError } from '../../exit.ts'
import type { AuditFlags } from '../options/audit-options.ts'

type LogFlags = Pick<
  AuditFlags,
  'auditLogFormat' | 'auditLogMaxsize' | 'auditLogMaxbackup' | 'auditLogMaxage'
> & { readonly path: string }

const megabyte = 1024 * 1024
const day = 24 * 3_600_000
/** How long lines are batched before they are written. */
const writeDelay = 100

/** Appends events to a file, one a line, and rotates it by size. It may contain Secrets: only the owner can read it. */
export function createAuditLog(flags: LogFlags, env: Env): AuditBackend {
  const format = flags.auditLogFormat === 'json' ? writeJson : formatLegacy
  if (flags.path === '-') {
    return {
      write: event => void process.stdout.write(`${format(event)}\n`),
      async [Symbol.asyncDispose]() {},
    }
  }
  const file = openLog(flags)
  let waiting: string[] = []
  let timer: { cancel(): void } | undefined
  const flush = () => {
    timer = undefined
    const text = waiting.join('')
    waiting = []
    try {
      file.append(text, env.clock.now())
    } catch (error) {
      env.log.error('audit events were lost', { file: flags.path, error })
    }
  }
  return {
    write(event) {
      waiting.push(`${format(event)}\n`)
      timer ??= env.clock.after(writeDelay, flush)
    },
    async [Symbol.asyncDispose]() {
      timer?.cancel()
      if (waiting.length > 0) flush()
      file.close()
    },
  }
}

function openLog({ path, auditLogMaxsize, auditLogMaxbackup, auditLogMaxage }: LogFlags) {
  const file = resolve(path)
  const open = () => openSync(file, 'a', 0o600)
  let handle: number
  let size: number
  let made: readonly string[] = []
  /** The file did not exist before. */
  let isNew = false
  try {
    made = makeDirectories(dirname(file))
    isNew = !existsSync(file)
    handle = open()
    size = statSync(file).size
  } catch (error) {
    throw new CommandError(`--audit-log-path ${path}: ${explainSystemError(error)}`, { cause: error })
  }
  const rotate = (now: number) => {
    closeSync(handle)
    const extension = extname(file)
    const stamp = new Date(now).toISOString().slice(0, -1).replaceAll(':', '-')
    renameSync(file, `${file.slice(0, file.length - extension.length)}-${stamp}${extension}`)
    handle = open()
    size = 0
    removeOld(file, now, auditLogMaxbackup, auditLogMaxage)
  }
  return {
    append(text: string, now: number) {
      const bytes = Buffer.byteLength(text)
      if (auditLogMaxsize > 0 && size > 0 && size + bytes > auditLogMaxsize * megabyte) rotate(now)
      isNew = false
      appendFileSync(handle, text)
      size += bytes
    },
    close() {
      closeSync(handle)
      if (!isNew) return
      rmSync(file, { force: true })
      try {
        for (const directory of made.toReversed()) rmdirSync(directory)
      } catch {
        // The directory is not empty.
      }
    },
  }
}

function removeOld(file: string, now: number, keep: number, days: number): void {
  const extension = extname(file)
  const prefix = `${basename(file, extension)}-`
  const old = readdirSync(dirname(file))
    .filter(name => name.startsWith(prefix) && name.endsWith(extension))
    .sort()
    .reverse()
    .map(name => join(dirname(file), name))
  for (const [index, path] of old.entries()) {
    const isTooMany = keep > 0 && index >= keep
    const isTooOld = days > 0 && now - statSync(path).mtimeMs > days * day
    if (isTooMany || isTooOld) rmSync(path, { force: true })
  }
}

/** One line in upstream's legacy format. */
function formatLegacy(event: AuditEvent): string {
  const of = (value: unknown, key: string) => (value as Record<string, unknown> | undefined)?.[key]
  const quote = (value: unknown) => JSON.stringify(value === undefined ? '' : String(value))
  const groups = (of(event.user, 'groups') as readonly string[] | undefined) ?? []
  const impersonated = of(event.impersonatedUser, 'username') ?? '<self>'
  const words = [
    `${event.requestReceivedTimestamp} AUDIT:`,
    `id=${quote(event.auditID)}`,
    `stage=${quote(event.stage)}`,
    `ip=${quote((event.sourceIPs as readonly string[] | undefined)?.[0])}`,
    `method=${quote(event.verb)}`,
    `user=${quote(of(event.user, 'username'))}`,
    `groups=${groups.length === 0 ? '"<none>"' : groups.map(quote).join(',')}`,
    `as=${quote(impersonated)}`,
    `asgroups="<lookup>"`,
    `user-agent=${quote(event.userAgent)}`,
    `namespace=${quote(of(event.objectRef, 'namespace') ?? '<none>')}`,
    `uri=${quote(event.requestURI)}`,
    `response=${quote(of(event.responseStatus, 'code') ?? '<deferred>')}`,
  ]
  return words.join(' ')
}
