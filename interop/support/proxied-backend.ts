import { createServer, type IncomingMessage, request } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { networkInterfaces } from 'node:os'

/** An HTTP server on an address of this machine that is not a loopback one: what a proxy may connect to. */
export interface ProxiedBackend extends AsyncDisposable {
  readonly address: string
  readonly port: number
}

export const page: string =
  '<html><head><base href="/"><script src="/s.js">"<a href=\'/no\'>"</script></head><body><a href="/x?a=1&amp;b=2">x</a><a href="rel">r</a></body></html>'

/** Tells what it was asked; some paths answer in their own way. */
export async function startProxiedBackend(): Promise<ProxiedBackend> {
  const found = Object.values(networkInterfaces())
    .flatMap(of => of ?? [])
    .find(({ family, internal }) => family === 'IPv4' && !internal)
  if (!found) throw new Error('this machine has no address but loopback ones; proxies refuse those')
  const server = createServer((message, answer) => {
    let length = 0
    message.on('data', (chunk: Buffer) => {
      length += chunk.length
    })
    message.on('end', () => {
      const { url = '', method, headers } = message
      if (url === '/moved') answer.writeHead(302, { location: '/there/?x=1' }).end()
      else if (url === '/page') answer.writeHead(200, { 'content-type': 'text/html' }).end(page)
      else if (url === '/broken') message.socket.destroy()
      else if (url === '/origin')
        answer.writeHead(204, { 'access-control-allow-origin': '*', vary: 'a' }).end()
      else answer.end(JSON.stringify({ method, url, headers, length }))
    })
  })
  server.on('upgrade', ({ url = '', headers }: IncomingMessage, socket) => {
    socket.on('error', () => {})
    if (url.startsWith('/refused')) {
      socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno')
      return
    }
    if (url.startsWith('/redirected')) {
      socket.end('HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n')
      return
    }
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: ${headers.upgrade}\r\nConnection: Upgrade\r\n\r\n`,
    )
    socket.on('data', (chunk: Buffer) => {
      socket.write(chunk.toString().toUpperCase())
      if (chunk.includes('bye')) socket.end()
    })
  })
  await new Promise<void>(resolve => server.listen(0, '0.0.0.0', resolve))
  return {
    address: found.address,
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

export interface PlainAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: string
}

/** A request whose path goes out as it is, dots and all. */
export function ask(
  port: number,
  method: string,
  path: string,
  more: { readonly headers?: Record<string, string>; readonly body?: string | Uint8Array } = {},
): Promise<PlainAnswer> {
  return new Promise((resolve, reject) => {
    const { headers = {}, body } = more
    const call = request({ host: '127.0.0.1', port, method, path, headers, agent: false }, answer => {
      const chunks: Buffer[] = []
      answer.on('data', chunk => chunks.push(chunk))
      answer.on('error', reject)
      answer.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text })
      })
    })
    call.on('error', reject)
    call.end(body)
  })
}

/** Everything that is heard on a connection that says `head`, and `message` once it was answered. */
export function converse(port: number, head: string, message: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    let heard = ''
    socket.on('data', chunk => {
      if (heard === '') socket.write(message)
      heard += chunk.toString()
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(heard))
    socket.write(head)
  })
}
