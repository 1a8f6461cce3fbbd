import { createConnection, isIP } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { isLoopback } from '../up/options/serving-options.ts'

/** What the stand-in for etcd tells the stand-in for kube-apiserver. */
export interface EtcdStandIn {
  readonly dataDir: string
  readonly isUnsafeNoFsync: boolean
}

/** The path by which it tells it. */
export const standInPath = '/coxswain'

/** Milliseconds until a server on this machine that accepts connections has to answer. */
const patience = 5_000
/** A stand-in answers with less. */
const longestAnswer = 16_384
/** How long an etcd that is just being started is waited for, in milliseconds. */
const startLimit = 10_000
const pollInterval = 50

/** Asks the first of `--etcd-servers` whether it is the stand-in; only one of this machine can be. Undefined for a real etcd. */
export async function askEtcd(servers: string): Promise<EtcdStandIn | undefined> {
  const url = URL.parse(servers.split(',')[0]!.trim())
  if (url?.protocol !== 'http:') return undefined
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (host !== 'localhost' && !(isIP(host) !== 0 && isLoopback(host))) return undefined
  const port = Number(url.port || 80)
  let answer = await get(host, port)
  for (let waited = 0; answer === undefined && waited < startLimit; waited += pollInterval) {
    await setTimeout(pollInterval)
    answer = await get(host, port)
  }
  const [head = '', body = ''] = (answer ?? '').split('\r\n\r\n')
  if (!/^HTTP\/1\.\d 200 /.test(head)) return undefined
  try {
    const reported = JSON.parse(body) as Partial<EtcdStandIn>
    return typeof reported.dataDir === 'string'
      ? { dataDir: reported.dataDir, isUnsafeNoFsync: reported.isUnsafeNoFsync === true }
      : undefined
  } catch {
    return undefined
  }
}

/**
 * The response, or what there is of it; undefined where nothing listens. A real etcd that does not answer is reported by the store for etcd.
 */
function get(host: string, port: number): Promise<string | undefined> {
  return new Promise(resolve => {
    let text: string | undefined
    const socket = createConnection({ host, port }, () => {
      text = ''
      socket.write(`GET ${standInPath} HTTP/1.0\r\n\r\n`)
    })
    socket.setTimeout(patience, () => socket.destroy())
    socket.setEncoding('utf8').on('data', chunk => {
      text = `${text}${chunk}`
      if (text.length > longestAnswer) socket.destroy()
    })
    socket.on('error', () => {}) // closes as well
    socket.on('close', () => resolve(text))
  })
}
