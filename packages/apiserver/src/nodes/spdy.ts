import { decodeText, encodeText } from '@coxswain/kit'
import type { Conversation, MessageChannel } from '@coxswain/wire'
import type { PortStream } from './node-connection.ts'
import { type CommandRequest, outcomeOf, type RunCommand } from './remote-command.ts'

/** One of the streams of a SPDY session, opened by the client. */
export interface SpdyStream {
  readonly headers: ReadonlyMap<string, string>
  readonly data: AsyncIterable<Uint8Array>
  write(chunk: Uint8Array): Promise<void>
  end(): Promise<void>
  reset(): Promise<void>
}

/** Speaks SPDY on a channel until the client disconnects. */
export type AcceptSpdy = (channel: MessageChannel, onStream: (stream: SpdyStream) => void) => Promise<void>

const commandProtocols: readonly string[] = ['v4.channel.k8s.io']
const portProtocol = 'portforward.k8s.io'
/** SPDY tunnelled through a WebSocket, as kubectl does since 1.31. */
const portProtocols: readonly string[] = [portProtocol, `SPDY/3.1+${portProtocol}`]

/** `exec` and `attach` for clients without WebSocket support: a SPDY stream for each stream of the command. */
export function createSpdyCommandConversation(
  accept: AcceptSpdy,
  request: CommandRequest & { readonly stdout: boolean; readonly stderr: boolean },
  run: RunCommand,
): Conversation {
  const wanted = [
    'error',
    request.stdin && 'stdin',
    request.stdout && 'stdout',
    request.stderr && !request.tty && 'stderr',
    request.tty && 'resize',
  ]
  const needed = wanted.filter(name => name !== false)
  const talk = async (channel: MessageChannel): Promise<void> => {
    const streams = new Map<string, SpdyStream>()
    const all = Promise.withResolvers<void>()
    const left = new AbortController()
    const session = accept(channel, stream => {
      streams.set(stream.headers.get('streamtype') ?? '', stream)
      if (needed.every(name => streams.has(name))) all.resolve()
    }).finally(() => {
      left.abort()
      all.resolve()
    })
    session.catch(() => {}) // the connection failed: there is no client to report to
    await all.promise
    if (left.signal.aborted) return
    const stdin = streams.get('stdin')
    const resize = streams.get('resize')
    const status = await outcomeOf(run, {
      ...(stdin && { stdin: stdin.data }),
      stdout: async chunk => await streams.get('stdout')?.write(chunk),
      stderr: async chunk => await streams.get('stderr')?.write(chunk),
      tty: request.tty,
      ...(resize && { sizes: readSizes(resize.data) }),
      signal: left.signal,
    })
    const error = streams.get('error')!
    await error.write(encodeText(JSON.stringify(status)))
    for (const stream of streams.values()) await stream.end()
    await Promise.race([session.catch(() => {}), untilEnd(error)])
  }
  return { protocols: commandProtocols, talk }
}

/** The client closes its side when it has read ours. */
async function untilEnd({ data }: SpdyStream): Promise<void> {
  for await (const _ of data);
}

async function* readSizes(
  data: AsyncIterable<Uint8Array>,
): AsyncGenerator<{ readonly width: number; readonly height: number }, void, undefined> {
  for await (const chunk of data) {
    for (const line of decodeText(chunk).split('\n')) {
      const match = /"Width":(\d+).*"Height":(\d+)/.exec(line)
      if (match) yield { width: Number(match[1]), height: Number(match[2]) }
    }
  }
}

/** Port forwarding: each connection has a pair of streams with the same request id, one for data and one for errors. */
export function createSpdyPortConversation(
  accept: AcceptSpdy,
  dial: (port: number) => Promise<PortStream>,
): Conversation {
  const talk = async (channel: MessageChannel): Promise<void> => {
    const halves = new Map<string, SpdyStream>()
    const open = new Set<PortStream>()
    try {
      await accept(channel, stream => {
        const id = stream.headers.get('requestid') ?? stream.headers.get('port') ?? ''
        const other = halves.get(id)
        if (!other) {
          halves.set(id, stream)
          return
        }
        halves.delete(id)
        const isError = stream.headers.get('streamtype') === 'error'
        const [data, error] = isError ? [other, stream] : [stream, other]
        forward(data, error, dial, open).catch(() => {}) // the client has disconnected
      })
    } finally {
      for (const connection of open) connection.destroy()
    }
  }
  return { protocols: portProtocols, talk }
}

async function forward(
  data: SpdyStream,
  error: SpdyStream,
  dial: (port: number) => Promise<PortStream>,
  open: Set<PortStream>,
): Promise<void> {
  const port = Number(data.headers.get('port'))
  let connection: PortStream
  try {
    connection = await dial(port)
  } catch (cause) {
    await error.write(encodeText(`error forwarding port ${port} to pod: ${(cause as Error).message}`))
    await error.end()
    await data.reset()
    return
  }
  open.add(connection)
  const upstream = async () => {
    for await (const chunk of data.data) await connection.write(chunk)
    connection.end()
  }
  const sent = upstream().catch(() => connection.destroy())
  try {
    for await (const chunk of connection.data) await data.write(chunk)
  } catch {
    // the connection to the port failed: the client sees it end
  }
  await data.end()
  await error.end()
  await sent
  connection.destroy()
  open.delete(connection)
}
