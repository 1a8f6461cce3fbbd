import { isStatusError, newInternalError, type Status } from '@coxswain/apimachinery/status'
import { AsyncQueue, decodeText, encodeText } from '@coxswain/kit'
import type { Conversation, MessageChannel } from '@coxswain/wire'
import type { TerminalStreams } from './node-connection.ts'

/** The first byte of every message identifies its stream. */
const channels = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4, close: 255 } as const

const v5 = 'v5.channel.k8s.io'
/** Newest first. Only v5 can close the standard input. */
const protocols: readonly string[] = [v5, 'v4.channel.k8s.io']

/** How many messages of input are buffered before the client has to wait. */
const inputLimit = 32

/** How a command ended: its exit code, or undefined when there is none to report. */
export type RunCommand = (streams: TerminalStreams) => Promise<number | undefined>

export interface CommandRequest {
  readonly stdin: boolean
  readonly tty: boolean
}

/** The protocol of `exec` and `attach`: streams in messages, and a final Status. */
export function createCommandConversation(request: CommandRequest, run: RunCommand): Conversation {
  return { protocols, talk: channel => talk(channel, request, run) }
}

async function talk(channel: MessageChannel, request: CommandRequest, run: RunCommand): Promise<void> {
  const left = new AbortController()
  const stdin = new AsyncQueue<Uint8Array>()
  const sizes = new AsyncQueue<{ width: number; height: number }>()
  const receive = async () => {
    for await (const message of channel.messages) {
      const data = message.subarray(1)
      if (message[0] === channels.stdin && data.length > 0) {
        stdin.push(data)
        await stdin.room(inputLimit)
      } else if (message[0] === channels.resize) pushSize(sizes, data)
      else if (message[0] === channels.close && data[0] === channels.stdin) stdin.end()
    }
    stdin.end()
    sizes.end()
    left.abort()
  }
  const received = receive().catch(() => left.abort()) // the connection failed: there is no client to report to
  const send = async (id: number, data: Uint8Array): Promise<void> => {
    const message = new Uint8Array(data.length + 1)
    message[0] = id
    message.set(data, 1)
    await channel.send(message)
  }
  const status = await outcomeOf(run, {
    ...(request.stdin && { stdin }),
    stdout: chunk => send(channels.stdout, chunk),
    stderr: chunk => send(channels.stderr, chunk),
    tty: request.tty,
    ...(request.tty && { sizes }),
    signal: left.signal,
  })
  await send(channels.error, encodeText(JSON.stringify(status)))
  stdin.end()
  sizes.end()
  void received
}

function pushSize(sizes: AsyncQueue<{ width: number; height: number }>, data: Uint8Array): void {
  try {
    const { Width, Height } = JSON.parse(decodeText(data)) as Record<string, unknown>
    if (typeof Width === 'number' && typeof Height === 'number') sizes.push({ width: Width, height: Height })
  } catch {
    // not a terminal size: ignored
  }
}

/** The result as a Status in the form that kubectl parses. */
export async function outcomeOf(run: RunCommand, streams: TerminalStreams): Promise<Partial<Status>> {
  try {
    const exitCode = await run(streams)
    if (exitCode === undefined || exitCode === 0) return { metadata: {}, status: 'Success' }
    return {
      metadata: {},
      status: 'Failure',
      message: `command terminated with non-zero exit code: exit status ${exitCode}`,
      reason: 'NonZeroExitCode',
      details: { causes: [{ reason: 'ExitCode', message: String(exitCode) }] },
    }
  } catch (error) {
    if (isStatusError(error)) return error.status
    const text = error instanceof Error ? error.message : String(error)
    const { status } = newInternalError(text)
    return { ...status, message: `error executing command in container: ${text}` }
  }
}
