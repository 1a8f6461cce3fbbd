import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { MessageChannel } from '@coxswain/wire'
import { openProxyHouse } from './test-support/proxy-house.ts'
import { always, createScriptedBackend } from './test-support/scripted-backend.ts'

const pods = '/api/v1/namespaces/default/pods'
const upgrade = { connection: 'Upgrade', upgrade: 'websocket' }
const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi'

/** A client whose connection sends `messages` and stays open. */
function createChannel(...messages: string[]): MessageChannel & { readonly heard: () => string } {
  let heard = ''
  return {
    protocol: '',
    heard: () => heard,
    messages: (async function* () {
      for (const message of messages) yield new TextEncoder().encode(message)
      await new Promise(() => {})
    })(),
    send: async message => {
      heard += new TextDecoder().decode(message)
    },
  }
}

describe('CVE-2018-1002105: an upgrade that fails leaves no connection behind', () => {
  it('closes the connection to a pod, and passes on only the response', async () => {
    for (const status of ['400 Bad Request', '403 Forbidden', '503 Unavailable']) {
      const backend = createScriptedBackend(always(`HTTP/1.1 ${status}\r\nContent-Length: 2\r\n\r\nno`))
      await using house = await openProxyHouse({ dial: backend.dial })
      await house.makePod('p', { node: 'own', ip: '10.1.1.1' })
      const reply = await house.send('GET', `${pods}/p/proxy/ws`, { headers: upgrade })
      assert.deepEqual([reply.status, reply.text], [Number(status.slice(0, 3)), 'no'])
      assert.deepEqual(backend.closed, [true])
      assert.match(backend.heard[0]!, /^GET \/ws HTTP\/1\.1\r\n/)
      assert.equal(backend.heard[0]!.split('HTTP/1.1').length, 2)
    }
  })

  it('closes the connection to a kubelet, and starts no conversation', async () => {
    const backend = createScriptedBackend(always('HTTP/1.1 400 Bad Request\r\nContent-Length: 2\r\n\r\nno'))
    await using house = await openProxyHouse({ addresses: { '198.51.100.7:10250': backend.dial } })
    await house.makePod('p', { node: 'foreign', ip: '198.51.100.20' })
    const raw = house.raw('POST', `${pods}/p/exec?command=id&stdout=1`, { headers: upgrade })
    const { status, conversation } = await house.run(raw)
    assert.equal(status, 400)
    assert.equal(conversation, undefined)
    assert.match(backend.heard[0]!, /^POST \/exec\/default\/p\/main\?command=id&output=1 HTTP\/1\.1\r\n/)
  })

  it('never treats a success as an upgrade', async () => {
    const backend = createScriptedBackend(always(ok))
    await using house = await openProxyHouse({ dial: backend.dial })
    await house.makePod('p', { node: 'own', ip: '10.1.1.1' })
    const reply = await house.send('GET', `${pods}/p/proxy/ws`, { headers: upgrade })
    assert.deepEqual([reply.status, reply.message], [500, 'invalid upgrade response: status code 200'])
    assert.deepEqual(backend.closed, [true])
  })

  it('joins the two connections only after the backend has switched protocols', async () => {
    const backend = createScriptedBackend(heard => {
      const head = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'
      if (heard.endsWith('bye')) return { say: 'bye too', end: true }
      return heard.includes('\r\n\r\n') ? { say: head } : undefined
    })
    await using house = await openProxyHouse({ dial: backend.dial })
    await house.makePod('p', { node: 'own', ip: '10.1.1.1' })
    const headers = { ...upgrade, 'content-length': '1000', authorization: 'Bearer secret' }
    const { status, conversation } = await house.run(
      house.raw('GET', `${pods}/p/proxy/ws?room=1`, { headers }),
    )
    assert.equal(status, 101)
    assert.ok(conversation?.raw)
    assert.match(backend.heard[0]!, /^GET \/ws\?room=1 HTTP\/1\.1\r\n.*upgrade: websocket\r\n/s)
    assert.doesNotMatch(backend.heard[0]!, /content-length|secret/)
    const channel = createChannel('hello ', 'bye')
    await house.run(conversation.talk(channel))
    assert.match(backend.heard[0]!, /hello bye$/)
    assert.equal(channel.heard(), 'bye too')
    assert.deepEqual(backend.closed, [true])
  })
})

describe('CVE-2020-8559: redirects of upgrades are neither followed nor passed on', () => {
  it('answers 500 and connects to no other address', async () => {
    const say = 'HTTP/1.1 302 Found\r\nLocation: https://198.51.100.99/run\r\nContent-Length: 0\r\n\r\n'
    const backend = createScriptedBackend(always(say))
    const victim = createScriptedBackend(always(ok))
    await using house = await openProxyHouse({
      addresses: { '198.51.100.7:10250': backend.dial, '198.51.100.99:443': victim.dial },
    })
    await house.makePod('p', { node: 'foreign', ip: '198.51.100.20' })
    for (const subresource of ['exec?command=id', 'attach', 'portforward']) {
      const reply = await house.send('POST', `${pods}/p/${subresource}`, { headers: upgrade })
      assert.deepEqual([reply.status, reply.message], [500, 'invalid upgrade response: status code 302'])
      assert.equal(reply.headers.location, undefined)
    }
    assert.deepEqual(victim.heard, [])
    assert.deepEqual(backend.closed, [true, true, true])
  })

  it('does not follow a redirect of logs either', async () => {
    const say = 'HTTP/1.1 302 Found\r\nLocation: https://198.51.100.99/x\r\nContent-Length: 0\r\n\r\n'
    const victim = createScriptedBackend(always(ok))
    await using house = await openProxyHouse({
      addresses: {
        '198.51.100.7:10250': createScriptedBackend(always(say)).dial,
        '198.51.100.99:443': victim.dial,
      },
    })
    await house.makePod('p', { node: 'foreign', ip: '198.51.100.20' })
    const { status, message } = await house.send('GET', `${pods}/p/log`)
    assert.equal(status, 500)
    assert.match(message, /redirects forbidden$/)
    assert.deepEqual(victim.heard, [])
  })
})

/** Addresses of the API server's own machine or link. */
const forbidden = [
  '127.0.0.1',
  '127.9.9.9',
  '0.0.0.0',
  '169.254.169.254',
  '224.0.0.1',
  '255.255.255.255',
  '::1',
  '::',
  'fe80::1',
  'ff02::1',
  '::ffff:127.0.0.1',
  '::ffff:169.254.169.254',
]

describe('CVE-2022-3294: node proxies connect to no address of the API server itself', () => {
  it('rejects every such address, and names that resolve to one', async () => {
    const backend = createScriptedBackend(always(ok))
    const addresses = Object.fromEntries(
      forbidden.flatMap(address => [
        [`${address}:10250`, backend.dial],
        [`${address}:22`, backend.dial],
      ]),
    )
    const names = { 'evil.example': ['198.51.100.8', '127.0.0.1'], 'void.example': [] }
    await using house = await openProxyHouse({ addresses, names })
    const hosts = [...forbidden, 'evil.example']
    for (const [index, address] of hosts.entries()) {
      const type = index < forbidden.length ? 'InternalIP' : 'Hostname'
      await house.make('/api/v1/nodes', {
        metadata: { name: `n${index}` },
        status: { addresses: [{ type, address }] },
      })
      for (const port of ['', ':22', ':10250']) {
        const reply = await house.send('GET', `/api/v1/nodes/n${index}${port}/proxy/`)
        assert.deepEqual([reply.status, reply.message], [400, 'address not allowed'], address)
      }
    }
    assert.deepEqual(backend.heard, [])
  })

  it('connects to the very address that it has checked', async () => {
    let lookups = 0
    const backend = createScriptedBackend(always(ok))
    const rebinding = {
      get 'flip.example'() {
        return lookups++ === 0 ? ['198.51.100.8'] : ['127.0.0.1']
      },
    }
    await using house = await openProxyHouse({
      names: rebinding,
      addresses: { '198.51.100.8:10250': backend.dial },
    })
    await house.make('/api/v1/nodes', {
      metadata: { name: 'flip' },
      status: { addresses: [{ type: 'Hostname', address: 'flip.example' }] },
    })
    assert.equal((await house.send('GET', '/api/v1/nodes/flip/proxy/')).text, 'hi')
    assert.equal(lookups, 1)
  })

  it('does not reach other ports of the machine through our own nodes', async () => {
    await using house = await openProxyHouse()
    for (const port of ['22', '2379', '6443', 'http', '-1', '0']) {
      const reply = await house.send('GET', `/api/v1/nodes/own:${port}/proxy/`)
      assert.deepEqual([reply.status, reply.message], [400, 'address not allowed'], port)
    }
  })
})

describe('CVE-2020-8555 and similar: writing an address into a status does not make the API server connect to it', () => {
  it('rejects pods with such an address, by themselves and behind a service', async () => {
    const backend = createScriptedBackend(always(ok))
    const elsewhere = ['10.0.0.9', '198.51.100.99']
    const addresses = Object.fromEntries(
      [...forbidden, ...elsewhere].map(address => [`${address}:8080`, backend.dial]),
    )
    await using house = await openProxyHouse({ addresses })
    for (const [index, ip] of forbidden.entries()) {
      try {
        await house.makePod(`p${index}`, { node: 'foreign', ip })
      } catch {
        continue // not even valid in a status
      }
      const reply = await house.send('GET', `${pods}/p${index}/proxy/`)
      assert.deepEqual([reply.status, reply.message], [400, 'address not allowed'], ip)
    }
    await house.make('/api/v1/namespaces/default/services', {
      metadata: { name: 's' },
      spec: { ports: [{ port: 80 }] },
    })
    await house.makePod('honest', { node: 'foreign', ip: '198.51.100.20' })
    await house.make('/apis/discovery.k8s.io/v1/namespaces/default/endpointslices', {
      metadata: { name: 's-1', labels: { 'kubernetes.io/service-name': 's' } },
      addressType: 'IPv4',
      endpoints: elsewhere.map(address => ({
        addresses: [address],
        targetRef: { kind: 'Pod', name: 'honest', namespace: 'default' },
      })),
      ports: [{ port: 8080, protocol: 'TCP' }],
    })
    const { message } = await house.send('GET', '/api/v1/namespaces/default/services/s/proxy/')
    assert.equal(message, 'no endpoints available for service "s"')
    assert.deepEqual(backend.heard, [])
  })
})

describe('paths of proxies', () => {
  it("are resolved before they are forwarded, and never escape the backend's part", async () => {
    const backend = createScriptedBackend(always(ok))
    await using house = await openProxyHouse({ dial: backend.dial })
    await house.makePod('p', { node: 'own', ip: '10.1.1.1' })
    const cases: Readonly<Record<string, string>> = {
      '/..': '/',
      '/../../../../nodes/own/proxy/pods': '/nodes/own/proxy/pods',
      '/a/../../b': '/b',
      '/%2e%2e/%2E%2E/b': '/b',
      '/a%2f..%2f..%2fb': '/b',
      '/a//b/./c/': '/a/b/c/',
      '/a%20b%0d%0aX-Evil:%201': '/a%20b%0D%0AX-Evil:%201',
      '/a%3Fb=c%23d': '/a%3Fb=c%23d',
      '/a%25b': '/a%25b',
      '/a%00': '/a%00',
      '/%C3%A9;v=1,2@$&+': '/%C3%A9;v=1,2@$&+',
      '/a?b=\u00e9&c=%zz d': '/a?b=%E9&c=%zz%20d',
    }
    for (const [target, expected] of Object.entries(cases)) {
      await house.send('GET', `${pods}/p/proxy${target}`)
      const [line = ''] = backend.heard.at(-1)!.split('\r\n')
      assert.equal(line, `GET ${expected} HTTP/1.1`, target)
    }
    const heard = backend.heard.length
    for (const target of ['/%zz', '/%', '/%ff'])
      assert.equal((await house.send('GET', `${pods}/p/proxy${target}`)).status, 400, target)
    assert.equal(backend.heard.length, heard)
  })
})

describe('answers of pods', () => {
  it('cannot smuggle a second response after the first', async () => {
    const evil = `${ok}HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil`
    const backend = createScriptedBackend(always(evil))
    await using house = await openProxyHouse({ dial: backend.dial })
    await house.makePod('p', { node: 'own', ip: '10.1.1.1' })
    assert.equal((await house.send('GET', `${pods}/p/proxy/`)).text, 'hi')
    assert.equal((await house.send('GET', `${pods}/p/proxy/`)).text, 'hi')
    assert.deepEqual(backend.closed, [true, true])
  })

  it('that are ambiguous are not passed on', async () => {
    const heads = [
      'Content-Length: 2\r\nContent-Length: 3',
      'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity',
      'X-A : b',
    ]
    for (const head of heads) {
      const backend = createScriptedBackend(always(`HTTP/1.1 200 OK\r\n${head}\r\n\r\nhi`))
      await using house = await openProxyHouse({ dial: backend.dial })
      await house.makePod('p', { node: 'own', ip: '10.1.1.1' })
      const reply = await house.send('GET', `${pods}/p/proxy/`)
      assert.equal(reply.status, 503)
      assert.match(
        reply.message,
        /^error trying to reach service: net\/http: HTTP\/1\.x transport connection broken/,
      )
    }
  })
})
