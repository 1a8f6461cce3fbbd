import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openProxyHouse } from '../nodes/test-support/proxy-house.ts'
import { always, createScriptedBackend } from '../nodes/test-support/scripted-backend.ts'
import { isProxyPath } from './proxies.ts'

const pods = '/api/v1/namespaces/default/pods'
const services = '/api/v1/namespaces/default/services'
const ok = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nhi'

describe('pods/proxy', () => {
  it('reaches pods of our own nodes through them, and others at their address', async () => {
    const inside = createScriptedBackend(always(ok))
    const outside = createScriptedBackend(always(ok))
    const dialled: string[] = []
    await using house = await openProxyHouse({
      addresses: { '198.51.100.20:8080': outside.dial },
      dial: async (pod, port) => {
        dialled.push(`${pod.namespace}/${pod.name}:${port}`)
        return await inside.dial()
      },
    })
    await house.makePod('here', { node: 'own', ip: '127.0.0.1' })
    await house.makePod('there', { node: 'foreign', ip: '198.51.100.20' })
    assert.equal((await house.send('GET', `${pods}/here/proxy/a`)).text, 'hi')
    assert.equal((await house.send('GET', `${pods}/here:9/proxy/`)).text, 'hi')
    assert.equal((await house.send('GET', `${pods}/here:web/proxy/`)).text, 'hi')
    assert.deepEqual(dialled, ['default/here:8080', 'default/here:9', 'default/here:8080'])
    assert.equal((await house.send('GET', `${pods}/there/proxy/b?c=d%2F`)).text, 'hi')
    assert.match(outside.heard[0]!, /^GET \/b\?c=d%2F HTTP\/1\.1\r\n/)
    assert.deepEqual([...inside.closed, ...outside.closed], [true, true, true, true])
  })

  it('forwards every method and body, adds X-Forwarded headers, and drops credentials', async () => {
    const backend = createScriptedBackend(heard =>
      heard.endsWith('0\r\n\r\n') || heard.endsWith('body') || /^(OPTIONS|DELETE|HEAD)/.test(heard)
        ? { say: ok, end: true }
        : undefined,
    )
    await using house = await openProxyHouse({ dial: backend.dial })
    await house.makePod('p', { node: 'own', ip: '10.1.1.1' })
    const headers = {
      authorization: 'Bearer secret',
      'impersonate-user': 'admin',
      'impersonate-group': 'system:masters',
      'x-remote-user': 'admin',
      'proxy-authorization': 'Basic x',
      connection: 'keep-alive, X-Hop',
      'keep-alive': 'timeout=5',
      'x-hop': 'secret',
      te: 'trailers',
      expect: '100-continue',
      'x-forwarded-for': '203.0.113.1',
      'x-kept': 'yes',
      'sec-websocket-protocol': 'a, base64url.bearer.authorization.k8s.io.c2VjcmV0',
    }
    const body = new TextEncoder().encode('body')
    for (const method of ['POST', 'PUT', 'PATCH'])
      assert.equal((await house.send(method, `${pods}/p/proxy/x/`, { headers, body })).status, 200)
    for (const method of ['DELETE', 'OPTIONS', 'HEAD'])
      assert.equal((await house.send(method, `${pods}/p/proxy/x/`, { headers })).status, 200)
    const stream = (async function* () {
      yield body
    })()
    await house.send('POST', `${pods}/p/proxy/x/`, { headers, bodyStream: stream })
    await house.send('POST', `${pods}/p/proxy/x/`, {
      headers: { ...headers, 'content-length': '4' },
      bodyStream: (async function* () {
        yield body
      })(),
    })
    const heads = backend.heard.map(text => text.split('\r\n\r\n')[0]!)
    assert.deepEqual(
      heads.map(head => head.split(' ')[0]),
      ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD', 'POST', 'POST'],
    )
    for (const head of heads) {
      assert.match(head, /\r\nx-forwarded-for: 203\.0\.113\.1, 192\.0\.2\.9\r\n/)
      assert.match(head, /\r\nx-forwarded-uri: \/api\/v1\/namespaces\/default\/pods\/p\/proxy\/x\/\r\n/)
      assert.match(head, /\r\nhost: api\.example:6443\r\n/)
      assert.match(head, /\r\nx-kept: yes\r\n/)
      assert.match(head, /\r\nsec-websocket-protocol: a\r\n/)
      assert.doesNotMatch(head, /secret|impersonate|x-remote|proxy-auth|keep-alive|x-hop|\bte:|expect/i)
    }
    assert.match(backend.heard[6]!, /transfer-encoding: chunked.*\r\n\r\n4\r\nbody\r\n0\r\n\r\n$/s)
    assert.match(backend.heard[7]!, /content-length: 4\r\n.*\r\n\r\nbody$/s)
  })

  it('redirects its root to the path with a slash, once it knows that the pod exists', async () => {
    await using house = await openProxyHouse()
    await house.makePod('p', { node: 'own', ip: '10.1.1.1' })
    for (const method of ['GET', 'HEAD']) {
      const { status, headers, text } = await house.send(method, `${pods}/p/proxy?a=b`)
      assert.deepEqual([status, headers.location, text], [301, `${pods}/p/proxy/?a=b`, ''])
    }
    assert.equal((await house.send('GET', `${pods}/q/proxy`)).message, 'pods "q" not found')
  })

  it('rewrites redirects and links of pages, and drops headers that would let other sites in', async () => {
    const say = [
      'HTTP/1.1 302 Found',
      'Location: /next/',
      'Access-Control-Allow-Origin: *',
      'Connection: close, X-Hop',
      'X-Hop: 1',
      'Set-Cookie: a=1',
      'Set-Cookie: b=2',
      'Cache-Control: max-age=5',
      'Content-Length: 0',
    ].join('\r\n')
    const page = '<a href="/x">x</a><a href="rel">y</a>'
    const html = `HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: ${page.length}\r\n\r\n${page}`
    const backend = createScriptedBackend(heard => ({
      say: heard.startsWith('GET /page') ? html : `${say}\r\n\r\n`,
      end: true,
    }))
    await using house = await openProxyHouse({ dial: backend.dial })
    await house.makePod('p', { node: 'own', ip: '10.1.1.1' })
    const moved = await house.send('GET', `${pods}/p/proxy/`)
    assert.equal(moved.status, 302)
    assert.equal(moved.headers.location, `${pods}/p/proxy/next/`)
    assert.deepEqual(moved.headers['set-cookie'], ['a=1', 'b=2'])
    assert.deepEqual(moved.headers['cache-control'], ['no-cache, private', 'max-age=5'])
    assert.equal(moved.headers['access-control-allow-origin'], undefined)
    assert.equal(moved.headers['x-hop'], undefined)
    assert.equal(moved.headers.connection, undefined)
    const shown = await house.send('GET', `${pods}/p/proxy/page`)
    assert.equal(shown.text, `<a href="${pods}/p/proxy/x">x</a><a href="rel">y</a>`)
    assert.equal(shown.headers['content-length'], undefined)
  })

  it('reports why the backend did not respond, as a Status', async () => {
    await using house = await openProxyHouse({
      dial: async () => {
        throw new Error('connect to localhost:8080: dial tcp 127.0.0.1:8080: connect: connection refused')
      },
      addresses: { '198.51.100.20:8080': createScriptedBackend(always('')).dial },
    })
    await house.makePod('here', { node: 'own', ip: '10.1.1.1' })
    await house.makePod('there', { node: 'foreign', ip: '198.51.100.20' })
    await house.make(pods, {
      metadata: { name: 'nowhere' },
      spec: { containers: [{ name: 'c', image: 'x' }] },
    })
    const reach = 'error trying to reach service: '
    const refused = 'connect: connection refused'
    const cases: readonly (readonly [string, number, string])[] = [
      ['here/proxy/', 503, `${reach}dial tcp 10.1.1.1:8080: ${refused}`],
      ['there:9/proxy/', 503, `${reach}dial tcp 198.51.100.20:9: ${refused}`],
      ['there:foo/proxy/', 503, `${reach}dial tcp: lookup tcp/foo: unknown port`],
      ['there:70000/proxy/', 503, `${reach}dial tcp: address 70000: invalid port`],
      ['nowhere/proxy/', 400, 'address not allowed'],
      ['ftp:here:80/proxy/', 400, 'invalid pod request "ftp:here:80"'],
      ['a:b:c:d/proxy/', 400, 'invalid pod request "a:b:c:d"'],
      [':80/proxy/', 400, 'invalid pod request ":80"'],
      ['here/proxy/?dryRun=All', 400, 'dryRun is not supported'],
    ]
    for (const [target, status, message] of cases) {
      const reply = await house.send('GET', `${pods}/${target}`)
      assert.deepEqual([reply.status, reply.message], [status, message], target)
    }
    assert.equal((await house.send('GET', '/api/v1/pods/here/proxy/')).status, 404)
    assert.equal((await house.send('TRACE', `${pods}/here/proxy/`)).status, 405)
  })

  it('reads a response no faster than the client, and releases it when the client disconnects', async () => {
    let sent = 0
    let isClosed = false
    const endless = async () => ({
      data: (async function* () {
        yield new TextEncoder().encode('HTTP/1.1 200 OK\r\n\r\n')
        for (; !isClosed; sent++) yield new Uint8Array(1000)
      })(),
      write: async () => {},
      end() {},
      destroy() {
        isClosed = true
      },
    })
    await using house = await openProxyHouse({ dial: endless })
    await house.makePod('p', { node: 'own', ip: '10.1.1.1' })
    const { body } = await house.run(house.raw('GET', `${pods}/p/proxy/`))
    const reader = (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]()
    for (let i = 0; i < 3; i++) await house.run(reader.next())
    assert.ok(sent <= 4, `${sent} chunks for three`)
    assert.equal(isClosed, false)
    await house.run(reader.return!())
    assert.equal(isClosed, true)

    isClosed = false
    const aborter = new AbortController()
    const { signal } = aborter
    await house.run(house.raw('GET', `${pods}/p/proxy/`, { signal }))
    aborter.abort()
    assert.equal(isClosed, true)
  })

  it('uses TLS for the scheme https', async () => {
    const backend = createScriptedBackend(always(ok))
    await using house = await openProxyHouse({ addresses: { '198.51.100.20:443': backend.dial } })
    const containers = [{ name: 'c', image: 'x' }]
    await house.makePod('p', { node: 'foreign', ip: '198.51.100.20', spec: { containers } })
    assert.equal((await house.send('GET', `${pods}/https:p:/proxy/`)).text, 'hi')
    assert.match((await house.send('GET', `${pods}/http:p:/proxy/`)).message, /198\.51\.100\.20:80: connect/)
  })
})

describe('services/proxy', () => {
  async function openService(
    targetRef: object = { kind: 'Pod', name: 'p', namespace: 'default' },
    isAlone = true,
  ) {
    const backend = createScriptedBackend(always(ok))
    const dialled = new Set<string>()
    const house = await openProxyHouse({
      dial: async ({ name }) => {
        dialled.add(name)
        return await backend.dial()
      },
    })
    const others = ['q', 'r'].map(name => ({ kind: 'Pod', name, namespace: 'default' }))
    for (const [index, name] of ['p', 'q', 'r'].entries())
      await house.makePod(name, { node: 'own', ip: `10.1.1.${index + 1}` })
    await house.make(services, {
      metadata: { name: 's' },
      spec: { ports: [{ name: 'web', port: 80, targetPort: 8080 }] },
    })
    await house.make('/apis/discovery.k8s.io/v1/namespaces/default/endpointslices', {
      metadata: { name: 's-1', labels: { 'kubernetes.io/service-name': 's' } },
      addressType: 'IPv4',
      endpoints: [
        { addresses: ['10.1.1.1'], conditions: { ready: true }, targetRef },
        { addresses: ['10.1.1.2'], conditions: { ready: false }, targetRef: others[0] },
        ...(isAlone ? [] : [{ addresses: ['10.1.1.3'], targetRef: others[1] }]),
      ],
      ports: [{ name: 'web', port: 8080, protocol: 'TCP' }],
    })
    return { house, backend, dialled }
  }

  it('finds an endpoint by the name and by the number of a port', async () => {
    const { house, backend } = await openService()
    await using _ = house
    assert.equal((await house.send('GET', `${services}/s:web/proxy/x`)).text, 'hi')
    assert.equal((await house.send('GET', `${services}/s:80/proxy/x`)).text, 'hi')
    assert.match(
      backend.heard[1]!,
      /x-forwarded-uri: \/api\/v1\/namespaces\/default\/services\/s:80\/proxy\/x\r\n/,
    )
  })

  it('chooses a ready endpoint at random', async () => {
    const { house, dialled } = await openService(undefined, false)
    await using _ = house
    for (let i = 0; i < 30; i++) await house.send('GET', `${services}/s:web/proxy/`)
    assert.deepEqual([...dialled].sort(), ['p', 'r'])
  })

  it('reports what is missing', async () => {
    const { house } = await openService()
    await using _ = house
    await house.make(services, { metadata: { name: 'empty' }, spec: { ports: [{ port: 80 }] } })
    const cases: readonly (readonly [string, number, string])[] = [
      ['none:80', 404, 'services "none" not found'],
      ['none', 404, 'services "none" not found'],
      ['empty', 404, 'services "empty" not found'],
      ['s:81', 503, 'no service port 81 found for service "s"'],
      ['s:other', 503, 'no endpoints available for service "s:other"'],
      ['s', 503, 'no endpoints available for service "s"'],
      ['x:s:80', 400, 'invalid service request "x:s:80"'],
    ]
    for (const [name, status, message] of cases) {
      const reply = await house.send('GET', `${services}/${name}/proxy/`)
      assert.deepEqual([reply.status, reply.message], [status, message], name)
    }
  })

  it('connects only to pods of its namespace that have the address', async () => {
    for (const targetRef of [
      { kind: 'Pod', name: 'gone', namespace: 'default' },
      { kind: 'Pod', name: 'p', namespace: 'kube-system' },
      { kind: 'Node', name: 'own' },
    ]) {
      const { house, backend } = await openService(targetRef)
      await using _ = house
      const { status, message } = await house.send('GET', `${services}/s:web/proxy/`)
      assert.deepEqual([status, message], [503, 'no endpoints available for service "s:web"'])
      assert.deepEqual(backend.heard, [])
    }
  })

  it('uses Endpoints without EndpointSlices', async () => {
    const backend = createScriptedBackend(always(ok))
    await using house = await openProxyHouse({ dial: backend.dial })
    await house.makePod('p', { node: 'own', ip: '10.1.1.1' })
    await house.make(services, { metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } })
    const targetRef = { kind: 'Pod', name: 'p', namespace: 'default' }
    await house.make('/api/v1/namespaces/default/endpoints', {
      metadata: { name: 's' },
      subsets: [{ addresses: [{ ip: '10.1.1.1', targetRef }], ports: [{ port: 8080 }] }],
    })
    assert.equal((await house.send('GET', `${services}/s/proxy/`)).text, 'hi')
  })
})

describe('nodes/proxy', () => {
  const nodes = '/api/v1/nodes'

  it('sends requests for our own nodes to their kubelets, with the path after proxy', async () => {
    const asked: string[] = []
    await using house = await openProxyHouse({
      ask: async (node, { method, path, query, headers }) => {
        asked.push(`${node} ${method} ${path}?${query} ${headers.authorization}`)
        return {
          status: 200,
          headers: { 'content-type': 'text/plain' },
          body: new TextEncoder().encode('ok'),
        }
      },
    })
    const headers = { authorization: 'Bearer x' }
    assert.equal((await house.send('GET', `${nodes}/own/proxy/stats/../healthz?a=1`, { headers })).text, 'ok')
    assert.equal((await house.send('GET', `${nodes}/own:10250/proxy/pods/`)).text, 'ok')
    assert.deepEqual(asked, ['own GET /healthz?a=1 undefined', 'own GET /pods/? undefined'])
    assert.equal((await house.send('GET', `${nodes}/own/proxy`)).headers.location, `${nodes}/own/proxy/`)
    assert.equal((await house.send('GET', `${nodes}/none/proxy/`)).message, 'nodes "none" not found')
  })

  it('uses the client certificate for kubelets of foreign nodes', async () => {
    const backend = createScriptedBackend(always(ok))
    await using house = await openProxyHouse({ addresses: { '198.51.100.7:10250': backend.dial } })
    assert.equal((await house.send('GET', `${nodes}/foreign/proxy/healthz`)).text, 'hi')
    assert.match(backend.heard[0]!, /^GET \/healthz HTTP\/1\.1\r\n/)
    const { message } = await house.send('GET', `${nodes}/foreign:9100/proxy/metrics`)
    assert.match(message, /error trying to reach service: dial tcp 198\.51\.100\.7:9100: connect/)
  })
})

describe('connections', () => {
  it('are counted while they last, and when they are over', async () => {
    const head = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: toy\r\nConnection: Upgrade\r\n\r\n'
    const backend = createScriptedBackend(heard =>
      heard.startsWith('GET /plain') ? { say: ok, end: true } : { say: head, end: true },
    )
    await using house = await openProxyHouse({ dial: backend.dial })
    await house.makePod('p', { node: 'own', ip: '10.1.1.1' })
    const count = async () => {
      const { text } = await house.send('GET', '/metrics')
      const place =
        'group="",version="v1",resource="pods",subresource="proxy",scope="resource",component="apiserver"'
      const value = (line: string) =>
        Number(
          text
            .split('\n')
            .find(one => one.startsWith(line))
            ?.split(' ')[1] ?? 0,
        )
      return {
        open: value(`apiserver_longrunning_requests{verb="CONNECT",${place}}`),
        plain: value(`apiserver_request_total{verb="CONNECT",dry_run="",${place},code="200"}`),
        switched: value(`apiserver_request_total{verb="CONNECT",dry_run="",${place},code="101"}`),
      }
    }
    assert.deepEqual(await count(), { open: 0, plain: 0, switched: 0 })
    await house.send('GET', `${pods}/p/proxy/plain`)
    assert.deepEqual(await count(), { open: 0, plain: 1, switched: 0 })

    const headers = { connection: 'Upgrade', upgrade: 'toy' }
    const first = await house.run(house.raw('GET', `${pods}/p/proxy/ws`, { headers }))
    const aborter = new AbortController()
    await house.run(house.raw('GET', `${pods}/p/proxy/ws`, { headers, signal: aborter.signal }))
    assert.deepEqual(await count(), { open: 2, plain: 1, switched: 0 })
    const messages = (async function* () {})()
    await house.run(first.conversation!.talk({ protocol: '', messages, send: async () => {} }))
    assert.deepEqual(await count(), { open: 1, plain: 1, switched: 1 })
    aborter.abort()
    assert.deepEqual(await count(), { open: 0, plain: 1, switched: 2 })
  })
})

describe('the paths of proxies', () => {
  it('are those of pods, services and nodes, and no others', () => {
    const proxied = [
      '/api/v1/nodes/n/proxy',
      '/api/v1/nodes/n/proxy/a',
      `${pods}/p/proxy/`,
      `${services}/s/proxy/x`,
    ]
    const others = [
      `${pods}/p`,
      `${pods}/proxy`,
      '/apis/a/v1/nodes/n/proxy',
      `${pods}/p/log/proxy`,
      '/proxy',
      '/x/proxy',
    ]
    assert.deepEqual(proxied.map(isProxyPath), [true, true, true, true])
    assert.deepEqual(others.filter(isProxyPath), [])
  })
})
