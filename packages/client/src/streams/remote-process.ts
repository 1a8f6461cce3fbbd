import type { Status } from '@coxswain/apimachinery/status'
import { isStatus, StatusError } from '@coxswain/apimachinery/wire-format'
import { decodeText, encodeText } from '@coxswain/kit'
import { joinChunks, TransportError } from '@coxswain/wire'
import { decodeJson } from '../json.ts'
import type { MessageChannel } from './message-channel.ts'
import { OutputStream } from './output-stream.ts'

/** A command that runs in a container, and the streams to it. Disposing it breaks the connection off. */
export interface RemoteProcess extends AsyncDisposable {
  /**
   * Its output. Of a stream that is not read only the beginning is kept; one that is read slowly blocks the connection
   * until it is read. Ends with the command; throws when the connection breaks.
   */
  readonly stdout: AsyncIterable<Uint8Array>
  /** Empty with a terminal: everything is on `stdout` then. */
  readonly stderr: AsyncIterable<Uint8Array>
  /**
   * The exit code. Rejects with the `StatusError` of a command that could not be run, or when the connection breaks before
   * the command has ended.
   */
  readonly exited: Promise<number>
  /** To its standard input. Resolves when there is room for more. */
  write(data: Uint8Array | string): Promise<void>
  /** Closes its standard input. Does nothing where the server speaks a protocol before v5, which cannot say so. */
  end(): Promise<void>
  /** Of its terminal, in characters. */
  resize(size: TerminalSize): Promise<void>
}

/** The size of a terminal in characters. */
export interface TerminalSize {
  readonly width: number
  readonly height: number
}

/** The first byte of every message says which stream it belongs to. */
const channels = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4, close: 255 } as const

/** Newest first. */
export const remoteCommandProtocols: readonly string[] = ['v5.channel.k8s.io', 'v4.channel.k8s.io']

export function createRemoteProcess(channel: MessageChannel): RemoteProcess {
  const stdout = new OutputStream()
  const stderr = new OutputStream()
  const exited = receive(channel, stdout, stderr)
  exited.catch(() => {}) // reported where it is awaited
  const send = (id: number, data: Uint8Array): Promise<void> => channel.send(withChannel(id, data))
  return {
    stdout,
    stderr,
    exited,
    write: data => send(channels.stdin, typeof data === 'string' ? encodeText(data) : data),
    async end() {
      if (channel.protocol === 'v5.channel.k8s.io') await send(channels.close, Uint8Array.of(channels.stdin))
    },
    resize: ({ width, height }) =>
      send(channels.resize, encodeText(JSON.stringify({ Width: width, Height: height }))),
    [Symbol.asyncDispose]: () => channel[Symbol.asyncDispose](),
  }
}

async function receive(channel: MessageChannel, stdout: OutputStream, stderr: OutputStream): Promise<number> {
  const verdict: Uint8Array[] = []
  try {
    for await (const message of channel.messages) {
      const data = message.subarray(1)
      switch (message[0]) {
        case channels.stdout:
          await stdout.push(data)
          break
        case channels.stderr:
          await stderr.push(data)
          break
        case channels.error:
          verdict.push(data)
          break
        case channels.close:
          if (data[0] === channels.stdout) stdout.end()
          if (data[0] === channels.stderr) stderr.end()
      }
    }
    stdout.end()
    stderr.end()
    return exitCodeOf(joinChunks(verdict))
  } catch (error) {
    stdout.fail(error)
    stderr.fail(error)
    throw error
  }
}

/** The server says at the end how it went: success, an exit code, or why the command could not be run. */
function exitCodeOf(verdict: Uint8Array): number {
  if (verdict.length === 0)
    throw new TransportError('ConnectionLost', 'the connection ended before the command did')
  const status = readStatus(verdict)
  if (status.status === 'Success') return 0
  const cause = status.details?.causes?.find(({ reason }) => reason === 'ExitCode')
  const code = Number(cause?.message)
  if (status.reason === 'NonZeroExitCode' && Number.isInteger(code)) return code
  throw new StatusError(status)
}

function readStatus(bytes: Uint8Array): Status {
  let value: unknown
  try {
    value = decodeJson(bytes)
  } catch {
    value = undefined
  }
  if (isStatus(value)) return value
  if (isBareStatus(value)) return { ...value, kind: 'Status', apiVersion: 'v1' }
  const message = decodeText(bytes)
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    reason: 'InternalError',
    code: 500,
    message,
  }
}

/** Kubelets leave apiVersion and kind out. */
function isBareStatus(value: unknown): value is Omit<Status, 'kind' | 'apiVersion'> {
  const { status } = (value ?? {}) as { status?: unknown }
  return status === 'Success' || status === 'Failure'
}

function withChannel(id: number, data: Uint8Array): Uint8Array {
  const message = new Uint8Array(data.length + 1)
  message[0] = id
  message.set(data, 1)
  return message
}
