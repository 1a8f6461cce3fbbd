/**
 * The outside world of this example: a network service with an API like Neutron's, in memory, as small as can be.
 *
 *   node network-service.ts [PORT]
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, BlockList, isIP } from 'node:net'
import { type NetworkApi, NetworkApiError, type NetworkSettings, type OutsideNetwork } from './network-api.ts'

/** The networks there are, and the rules for them. */
export class NetworkInventory implements NetworkApi {
  readonly networks: Map<string, OutsideNetwork> = new Map()
  /** While it is set nothing is answered. */
  isDown = false
  /** Everything that was changed, in order. */
  readonly changes: string[] = []
  #made = 0

  async find(owner: string): Promise<OutsideNetwork | undefined> {
    this.#answer()
    return this.networks.values().find(network => network.owner === owner)
  }

  async create(owner: string, settings: NetworkSettings): Promise<OutsideNetwork> {
    this.#answer()
    if (await this.find(owner)) throw new NetworkApiError('Conflict', `${owner} has a network already`)
    return this.#put('create', { id: `net-${++this.#made}`, owner, ...checked(settings) })
  }

  async update(id: string, settings: NetworkSettings): Promise<OutsideNetwork> {
    this.#answer()
    const network = this.networks.get(id)
    if (!network) throw new NetworkApiError('NotFound', `there is no network ${id}`)
    return this.#put('update', { ...network, ...checked(settings) })
  }

  async delete(id: string): Promise<void> {
    this.#answer()
    if (this.networks.delete(id)) this.changes.push(`delete ${id}`)
  }

  #put(what: string, network: OutsideNetwork): OutsideNetwork {
    this.networks.set(network.id, network)
    this.changes.push(`${what} ${network.id} ${network.cidr} ${network.gateway}`)
    return network
  }

  #answer(): void {
    if (this.isDown) throw new NetworkApiError('Unavailable', 'the network API is down')
  }
}

function checked({ name, cidr, gateway }: NetworkSettings): NetworkSettings {
  const [address = '', prefix = '', ...rest] = cidr.split('/')
  const family = isIP(address)
  const isPrefix = /^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128)
  if (!family || !isPrefix || rest.length > 0) throw new NetworkApiError('Refused', `${cidr} is no CIDR`)
  const subnet = new BlockList()
  subnet.addSubnet(address, Number(prefix), family === 4 ? 'ipv4' : 'ipv6')
  if (isIP(gateway) !== family || !subnet.check(gateway, family === 4 ? 'ipv4' : 'ipv6')) {
    throw new NetworkApiError('Refused', `gateway ${gateway} is not in ${cidr}`)
  }
  return { name, cidr, gateway }
}

const statuses = { Refused: 400, NotFound: 404, Conflict: 409, Unavailable: 503 } as const

/** Serves an inventory over HTTP until it is disposed of. */
export async function serveNetworks(
  inventory: NetworkInventory,
  port = 0,
): Promise<{ readonly url: string } & AsyncDisposable> {
  const server: Server = createServer((request, response) => {
    answer(inventory, request).then(
      body => send(response, body === undefined ? 204 : 200, body),
      (error: unknown) => {
        const status = error instanceof NetworkApiError ? statuses[error.code] : 500
        send(response, status, { message: error instanceof Error ? error.message : String(error) })
      },
    )
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: () =>
      new Promise<void>(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function answer(inventory: NetworkInventory, request: IncomingMessage): Promise<object | undefined> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
  const [, version, collection, id, ...rest] = pathname.split('/')
  const route = `${request.method}${id ? ' one' : ''}`
  if (version !== 'v2.0' || collection !== 'networks' || rest.length > 0) {
    throw new NetworkApiError('NotFound', `there is no ${pathname}`)
  }
  if (route === 'GET') return { networks: await listed(inventory, searchParams.get('owner')) }
  if (route === 'POST') {
    const { owner, ...settings } = (await readJson(request)) as NetworkSettings & { owner: string }
    return await inventory.create(owner, settings)
  }
  if (route === 'PUT one') return await inventory.update(id!, (await readJson(request)) as NetworkSettings)
  if (route === 'DELETE one') {
    await inventory.delete(id!)
    return undefined
  }
  throw new NetworkApiError('NotFound', `there is no ${route} here`)
}

async function listed(inventory: NetworkInventory, owner: string | null): Promise<OutsideNetwork[]> {
  if (owner === null) return [...inventory.networks.values()]
  const network = await inventory.find(owner)
  return network ? [network] : []
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new NetworkApiError('Refused', 'the body is not JSON', { cause })
  }
}

function send(response: ServerResponse, status: number, body?: object): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(body && JSON.stringify(body))
}

if (import.meta.main) {
  const { url } = await serveNetworks(new NetworkInventory(), Number(process.argv[2] ?? 9696))
  console.log(`networks are served at ${url}/v2.0/networks`)
}
