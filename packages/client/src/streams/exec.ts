import type { ObjectKey } from '@coxswain/apimachinery/meta'
import { decodeText } from '@coxswain/kit'
import { readBody } from '@coxswain/wire'
import type { Client } from '../client.ts'
import type { CallOptions } from '../options.ts'
import type { QueryValues } from '../rest-request.ts'
import { podPath } from './pod-path.ts'
import { createRemoteProcess, type RemoteProcess, remoteCommandProtocols } from './remote-process.ts'

/** Options of an attach. */
export interface AttachOptions extends CallOptions {
  /** @default the Pod's only one, or the one its annotation names */
  readonly container?: string
  /** Whether it has a standard input. @default false */
  readonly stdin?: boolean
  /** Whether it runs in a terminal: `stdout` and `stderr` are then one. @default false */
  readonly tty?: boolean
}

/** Options of an exec. */
export interface ExecOptions extends AttachOptions {
  readonly command: readonly string[]
}

/** Runs a command in a container of a Pod. Resolves when the connection is there. Needs a transport that can upgrade connections: over sockets, or in process. */
export async function exec(client: Client, pod: ObjectKey, options: ExecOptions): Promise<RemoteProcess> {
  return start(client, podPath(pod, 'exec'), options, { command: options.command })
}

/** Attaches to the process that a container runs. */
export async function attach(
  client: Client,
  pod: ObjectKey,
  options: AttachOptions = {},
): Promise<RemoteProcess> {
  return start(client, podPath(pod, 'attach'), options, {})
}

async function start(
  client: Client,
  path: string,
  options: AttachOptions,
  more: QueryValues,
): Promise<RemoteProcess> {
  const { container, stdin = false, tty = false, signal, timeout } = options
  const query: QueryValues = {
    ...more,
    container,
    stdin: stdin || undefined,
    stdout: true,
    stderr: !tty || undefined,
    tty: tty || undefined,
  }
  const channel = await client.raw.upgrade(
    { path, query, ...(signal && { signal }), ...(timeout !== undefined && { timeout }) },
    remoteCommandProtocols,
  )
  return createRemoteProcess(channel)
}

/** The output and exit code of a command. */
export interface CommandOutput {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs a command to its end with `input`, and collects its output. */
export async function execute(
  client: Client,
  pod: ObjectKey,
  options: Omit<ExecOptions, 'stdin' | 'tty'> & { readonly input?: string | Uint8Array },
): Promise<CommandOutput> {
  const { input, ...rest } = options
  await using process = await exec(client, pod, { ...rest, stdin: input !== undefined })
  const output = Promise.all([readText(process.stdout), readText(process.stderr)])
  output.catch(() => {})
  if (input !== undefined) {
    await process.write(input)
    await process.end()
  }
  const [stdout, stderr] = await output
  return { exitCode: await process.exited, stdout, stderr }
}

async function readText(stream: AsyncIterable<Uint8Array>): Promise<string> {
  return decodeText(await readBody(stream))
}
