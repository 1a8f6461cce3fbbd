import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import { defineKind, s } from '@coxswain/apimachinery/kinds'
import { createRealEnv, TaskGroup } from '@coxswain/kit'
import { createMemoryStore } from '@coxswain/storage'
import { createCertificate } from '@coxswain/wire/node'
import { createOwnApiServer, defineApiServer } from '../define-api-server.ts'
import { defineResource } from '../define-resource.ts'
import { toNodeListener } from './listener.ts'
import { readRequestHeaders } from './request-headers.ts'
import { serveApiServer } from './serve.ts'

const group = 'shop.example.com'
const Note = defineKind({
  group,
  kind: 'Note',
  versions: { v1: { storage: true, spec: s.object({ text: s.string() }) } },
})
const definition = defineApiServer({ groups: { [group]: [defineResource(Note.v1)] } })
const notes = `/apis/${group}/v1/namespaces/default/notes`
const { clock, random } = createRealEnv()
const validity = { notBefore: clock.now() - 60_000, notAfter: clock.now() + 3_600_000 }
const createCa = (commonName: string) =>
  createCertificate({ subject: { commonName }, usages: ['ca'], ...validity }, random)

/** A cluster that allows jane everything, knows the token `t`, and trusts front proxies of this CA. */
function fakeCluster(proxyCa: string, clientCa: string) {
  const reviews: string[] = []
  const data = {
    'client-ca-file': clientCa,
    'requestheader-client-ca-file': proxyCa,
    'requestheader-allowed-names': '["front-proxy-client"]',
    'requestheader-username-headers': '["X-Remote-User"]',
    'requestheader-group-headers': '["X-Remote-Group"]',
    'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
  }
  const client = {
    get: async () => ({ data }),
    create: async (kind: { kind: string }, { spec }: { spec: { token?: string; user?: string } }) => {
      reviews.push(kind.kind)
      return kind.kind === 'TokenReview'
        ? { status: { authenticated: spec.token === 't', user: { username: 'jane', groups: [] } } }
        : { status: { allowed: spec.user === 'jane' } }
    },
  }
  return { reviews, client: client as never }
}

interface Sent {
  readonly headers?: Record<string, string>
  readonly cert?: string
  readonly key?: string
}

const send = (url: string, ca: string, options: Sent = {}) =>
  new Promise<{ status: number; text: string }>((resolve, reject) => {
    const sent = request(`${url}${notes}`, { ca, agent: false, ...options }, answer => {
      let text = ''
      answer.setEncoding('utf8').on('data', chunk => {
        text += chunk
      })
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }))
    })
    sent.on('error', reject)
    sent.end()
  })

describe('a server behind an aggregator', () => {
  it('believes the headers of its front proxy only, and asks the cluster about tokens and rights', async () => {
    const [proxyCa, clientCa] = [createCa('front-proxy-ca'), createCa('kubernetes')]
    const { client, reviews } = fakeCluster(proxyCa.certificate, clientCa.certificate)
    await using store = createMemoryStore({ env: createRealEnv() })
    await using served = await serveApiServer(definition, { cluster: client, store })
    const pairOf = (commonName: string, ca: typeof proxyCa) => {
      const made = createCertificate({ subject: { commonName }, usages: ['client'], ...validity }, random, ca)
      return { cert: made.certificate, key: made.key }
    }
    const as = (user: string) => ({ 'x-remote-user': user })
    const ask = (options: Sent) => send(served.url, served.certificate, options)
    const proxy = pairOf('front-proxy-client', proxyCa)
    assert.equal((await ask({ ...proxy, headers: as('jane') })).status, 200)
    assert.equal((await ask({ ...proxy, headers: as('joe') })).status, 403)
    // Another name of the proxies' CA, a client's own certificate, and no certificate at all.
    assert.equal((await ask({ ...pairOf('other', proxyCa), headers: as('jane') })).status, 401)
    assert.equal((await ask({ ...pairOf('joe', clientCa), headers: as('jane') })).status, 403)
    assert.equal((await ask({ headers: as('jane') })).status, 403)
    assert.equal((await ask(pairOf('jane', clientCa))).status, 200)
    assert.equal((await ask({ headers: { authorization: 'Bearer t' } })).status, 200)
    assert.equal((await ask({ headers: { authorization: 'Bearer wrong' } })).status, 401)
    const before = reviews.length
    assert.equal((await ask({ headers: { authorization: 'Bearer t' } })).status, 200)
    assert.equal(reviews.length, before, 'answers are remembered')
  })

  it('does not start without the trust of the cluster', async () => {
    const client = { get: async () => undefined } as never
    await assert.rejects(readRequestHeaders(client), /extension-apiserver-authentication does not exist/)
    const empty = { get: async () => ({ data: {} }) } as never
    await assert.rejects(readRequestHeaders(empty), /has no requestheader-client-ca-file/)
  })
})

describe('a listener of node:http', () => {
  it('serves the API below a path', async () => {
    const env = createRealEnv()
    const store = createMemoryStore({ env })
    const server = createOwnApiServer(definition, { env, store })
    const tasks = new TaskGroup()
    tasks.spawn(signal => server.run(signal))
    await server.ready
    const userOf = () => ({ name: 'admin', groups: ['system:masters'] })
    const http = createServer(toNodeListener(server, { basePath: '/k8s', userOf }))
    await new Promise<void>(resolve => http.listen(0, '127.0.0.1', resolve))
    try {
      const base = `http://127.0.0.1:${(http.address() as AddressInfo).port}/k8s${notes}`
      const body = JSON.stringify({ apiVersion: `${group}/v1`, metadata: { name: 'a' }, spec: { text: 'x' } })
      const headers = { 'content-type': 'application/json' }
      const created = await fetch(base, { method: 'POST', body, headers })
      assert.equal(created.status, 400) // no kind
      const whole = body.replace('{', '{"kind":"Note",')
      assert.equal((await fetch(base, { method: 'POST', body: whole, headers })).status, 201)
      const watch = await fetch(`${base}?watch=true&timeoutSeconds=1`)
      assert.match(await watch.text(), /"type":"ADDED"/)
    } finally {
      http.close()
      tasks.abort()
      await tasks.join()
      await store.close()
    }
  })
})
