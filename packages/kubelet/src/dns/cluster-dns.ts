import { Namespace, Service } from '@coxswain/api/core/v1'
import { EndpointSlice } from '@coxswain/api/discovery/v1'
import { isAlreadyExists } from '@coxswain/apimachinery/status'
import { defineOperator, type Operator, type ReconcileContext, requeueAfter } from '@coxswain/runtime'
import type { OpenResult } from '../kube-proxy/service-sockets.ts'
import type { ClusterDns } from '../kubelet/pod-files.ts'
import { type DnsAnswer, encodeAnswer, parseQuery } from './message.ts'
import { Zone } from './zone.ts'

/** The sockets that the server needs: one port over UDP and TCP. */
export interface DnsSockets extends AsyncDisposable {
  open(place: { readonly host: string; readonly port: number }, answer: AnswerQuery): Promise<OpenResult>
}

/** Answers one DNS message; undefined when there is no answer to send. Never throws. */
export type AnswerQuery = (message: Uint8Array, transport: 'udp' | 'tcp') => Uint8Array | undefined

/** Options of {@link createClusterDns}. */
export interface ClusterDnsOptions {
  readonly sockets: DnsSockets
  /** The cluster IP of the Service `kube-dns`. */
  readonly clusterIP: string
  /** The address at which a cluster IP is reachable, this one too. */
  readonly addressOf: (clusterIP: string) => string
  /** @default 'cluster.local' */
  readonly domain?: string
}

/** The cluster DNS server: its operator, and where it listens. */
export interface ClusterDnsServer {
  readonly operator: Operator
  /** Where it listens; undefined where it could not. Resolves after the operator has tried to listen. */
  resolver(): Promise<ClusterDns | undefined>
}

const port = 53
const namespace = 'kube-system'
const name = 'kube-dns'
/** Everything is reconciled together: one key. */
const all = [{ name }]
/** Milliseconds for which changes are batched. */
const delay = 50
/** Milliseconds until a port that is in use is retried, and a Service that could not be created. */
const retryAfter = 5_000

/**
 * A DNS server for the names of Services, published as the Service `kube-dns`. It answers from the informers, asks no other server,
 * and refuses every name that is not the cluster's.
 *
 *   Service, EndpointSlice, Namespace -> Zone
 *   query -> parseQuery -> Zone.answer -> encodeAnswer
 */
export function createClusterDns(options: ClusterDnsOptions): ClusterDnsServer {
  const { sockets, clusterIP, addressOf, domain = 'cluster.local' } = options
  let zone: Zone | undefined
  let serial = 0
  let isOpen = false
  const tried = Promise.withResolvers<void>()
  const answer: AnswerQuery = (message, transport) => answerQuery(zone, message, transport)
  const host = addressOf(clusterIP)
  const operator = defineOperator(name, builder => {
    builder.task('sockets', async ({ env, signal }) => {
      let reported = ''
      try {
        while (!signal.aborted) {
          const result = await sockets.open({ host, port }, answer)
          isOpen = result.opened
          tried.resolve()
          if (result.opened) break
          const { problem, message } = result
          if (reported !== message)
            env.log.warn('cluster DNS cannot listen: names of Services do not resolve', {
              host,
              port,
              message,
            })
          reported = message
          if (problem === 'forbidden' || problem === 'no address') break
          await env.clock.sleep(retryAfter, { signal })
        }
        if (isOpen) env.log.info('cluster DNS is listening', { host, port, domain })
        if (!signal.aborted)
          await new Promise(resolve => signal.addEventListener('abort', resolve, { once: true }))
      } catch (error) {
        if (!signal.aborted) throw error
      } finally {
        tried.resolve()
        isOpen = false
        await sockets[Symbol.asyncDispose]()
      }
    })
    builder
      .controller(name)
      .watches(Service, () => all, { delay })
      .watches(EndpointSlice, () => all, { delay })
      .watches(Namespace, () => all, { delay })
      .reconcile(async context => {
        const { client, clock } = context
        const [services, slices, namespaces] = await Promise.all([
          client.list(Service),
          client.list(EndpointSlice),
          client.list(Namespace),
        ])
        // Increases with every change, and across restarts.
        serial = Math.max(serial + 1, Math.floor(clock.now() / 1000))
        zone = new Zone(
          {
            services: services.items,
            slices: slices.items,
            namespaces: new Set(namespaces.items.map(({ metadata }) => metadata.name)),
          },
          { domain, addressOf, serial },
        )
        const isShown = services.items.some(
          ({ metadata }) => metadata.namespace === namespace && metadata.name === name,
        )
        return isShown ? undefined : await showService(context, clusterIP)
      })
  })
  return {
    operator,
    async resolver() {
      await tried.promise
      return isOpen ? { address: host, domain } : undefined
    },
  }
}

/** It has no selector and no endpoints: the server itself listens where the cluster IP is reachable. */
async function showService({ client, log }: ReconcileContext, clusterIP: string) {
  try {
    await client.create(Service, {
      metadata: {
        namespace,
        name,
        labels: {
          'k8s-app': name,
          'kubernetes.io/cluster-service': 'true',
          'kubernetes.io/name': 'CoreDNS',
        },
      },
      spec: {
        clusterIP,
        ports: [
          { name: 'dns', port, protocol: 'UDP' },
          { name: 'dns-tcp', port, protocol: 'TCP' },
        ],
      },
    })
  } catch (error) {
    if (isAlreadyExists(error)) return undefined
    log.warn('the Service kube-dns cannot be created', { clusterIP, error })
    return requeueAfter(retryAfter)
  }
  return undefined
}

/** Exported for tests. */
export function answerQuery(
  zone: Zone | undefined,
  message: Uint8Array,
  transport: 'udp' | 'tcp',
): Uint8Array | undefined {
  const query = parseQuery(message)
  if (query.kind === 'noise') return undefined
  const failed = (code: DnsAnswer['code']): DnsAnswer => ({
    code,
    isAuthoritative: false,
    answers: [],
    authorities: [],
    additionals: [],
  })
  if (query.kind === 'malformed') return encodeAnswer(query.header, failed('FORMERR'), transport)
  if (query.kind !== 'query') return encodeAnswer(query.header, failed('NOTIMP'), transport)
  return encodeAnswer(query.header, zone?.answer(query.question) ?? failed('SERVFAIL'), transport)
}
