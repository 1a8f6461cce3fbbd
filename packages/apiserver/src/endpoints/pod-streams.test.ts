import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openProxyHouse, type ProxyHouse } from '../nodes/test-support/proxy-house.ts'
import { always, createScriptedBackend } from '../nodes/test-support/scripted-backend.ts'

const pods = '/api/v1/namespaces/default/pods'
const upgrade = { connection: 'Upgrade', upgrade: 'websocket' }
const switching = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'
const kubelet = '198.51.100.7:10250'

/** A user with `verbs` on the subresources of Pods. */
async function createUser(house: ProxyHouse, name: string, verbs: readonly string[]) {
  const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default'
  const resources = ['pods/exec', 'pods/attach', 'pods/portforward', 'pods/proxy']
  await house.make(`${rbac}/roles`, {
    metadata: { name },
    rules: [{ apiGroups: [''], resources, verbs }],
  })
  await house.make(`${rbac}/rolebindings`, {
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name }],
  })
  return { commonName: name, organizations: [], notAfter: Number.MAX_SAFE_INTEGER }
}

describe('streams of pods', () => {
  it('are a bad request without a command', async () => {
    await using house = await openProxyHouse()
    await house.makePod('p', { node: 'own', ip: '198.51.100.20' })
    for (const query of ['', '?stdout=1', '?command=&stdout=1', '?command=&command=id']) {
      const { status, message } = await house.send('POST', `${pods}/p/exec${query}`, { headers: upgrade })
      assert.deepEqual([status, message], [400, 'you must specify at least one command for the container'])
    }
  })

  it('need the verb create, also when they begin with a GET', async () => {
    const backend = createScriptedBackend(always(switching))
    await using house = await openProxyHouse({ addresses: { [kubelet]: backend.dial } })
    await house.makePod('p', { node: 'foreign', ip: '198.51.100.20' })
    const reader = await createUser(house, 'reader', ['get'])
    const writer = await createUser(house, 'writer', ['get', 'create'])
    const creator = await createUser(house, 'creator', ['create'])
    for (const target of ['exec?command=id', 'attach', 'portforward']) {
      const send = (method: string, peer: typeof reader) =>
        house.send(method, `${pods}/p/${target}`, { headers: upgrade, peer })
      const refused = await send('GET', reader)
      assert.deepEqual([refused.status, refused.message], [403, 'pods "p" is forbidden: '], target)
      assert.equal((await send('POST', reader)).status, 403)
      assert.equal((await send('GET', writer)).status, 101)
      assert.equal((await send('POST', writer)).status, 101)
      assert.equal((await send('GET', creator)).status, 403)
      assert.equal((await send('POST', creator)).status, 101)
    }
  })

  it('send kubelets of foreign nodes the requests they expect', async () => {
    const backend = createScriptedBackend(always(switching))
    await using house = await openProxyHouse({ addresses: { [kubelet]: backend.dial } })
    await house.makePod('p', { node: 'foreign', ip: '198.51.100.20' })
    const headers = {
      ...upgrade,
      authorization: 'Bearer secret',
      'sec-websocket-protocol': 'v5.channel.k8s.io',
      'sec-websocket-key': 'k',
    }
    const asked = {
      'exec?command=echo&command=a%20b&stdin=true&stdout=1&tty=true&stderr=false':
        '/exec/default/p/main?command=echo&command=a%20b&input=1&output=1&tty=1',
      'attach?container=main&stdout=true': '/attach/default/p/main?output=1',
      'portforward?ports=80,90': '/portForward/default/p?port=80%2C90',
      portforward: '/portForward/default/p',
    }
    for (const [target, expected] of Object.entries(asked)) {
      const { status, conversation } = await house.run(house.raw('GET', `${pods}/p/${target}`, { headers }))
      assert.equal(status, 101)
      assert.ok(conversation?.raw)
      const head = backend.heard.at(-1)!
      assert.equal(head.split('\r\n')[0], `GET ${expected} HTTP/1.1`)
      assert.match(head, /\r\nsec-websocket-protocol: v5\.channel\.k8s\.io\r\n/)
      assert.doesNotMatch(head, /secret/)
    }
    const plain = await house.send('GET', `${pods}/p/exec?command=id`)
    assert.deepEqual([plain.status, plain.message], [400, 'Upgrade request required'])
    const dry = await house.send('POST', `${pods}/p/exec?command=id&dryRun=All`, { headers })
    assert.deepEqual([dry.status, dry.message], [400, 'dryRun is not supported'])
  })

  it('report that a kubelet cannot be reached', async () => {
    await using house = await openProxyHouse()
    await house.makePod('p', { node: 'foreign', ip: '198.51.100.20' })
    const reason = `dial tcp ${kubelet}: connect: connection refused`
    const exec = await house.send('POST', `${pods}/p/exec?command=id`, { headers: upgrade })
    assert.deepEqual([exec.status, exec.message], [500, `error dialing backend: ${reason}`])
    const log = await house.send('GET', `${pods}/p/log`)
    const url = `https://${kubelet}/containerLogs/default/p/main`
    assert.deepEqual([log.status, log.message], [500, `Get "${url}": ${reason}`])
    await house.make('/api/v1/nodes', { metadata: { name: 'bare' } })
    await house.makePod('q', { node: 'bare', ip: '198.51.100.21' })
    const bare = await house.send('GET', `${pods}/q/log`)
    assert.equal(bare.status, 500)
    assert.equal(bare.message, 'no preferred addresses found; known addresses: []')
  })
})

describe('logs of pods on other nodes', () => {
  async function logOf(say: string, query = '') {
    const backend = createScriptedBackend(always(say))
    await using house = await openProxyHouse({ addresses: { [kubelet]: backend.dial } })
    await house.makePod('p', { node: 'foreign', ip: '198.51.100.20' })
    return { ...(await house.send('GET', `${pods}/p/log${query}`)), heard: backend.heard[0]! }
  }

  it('are streamed, with the options', async () => {
    const query = '?follow=true&tailLines=5&sinceSeconds=9&timestamps=1&previous=false&limitBytes=100'
    const { status, text, headers, heard } = await logOf('HTTP/1.1 200 OK\r\n\r\nline\n', query)
    assert.deepEqual([status, text, headers['content-type']], [200, 'line\n', 'text/plain'])
    const path =
      '/containerLogs/default/p/main?follow=true&limitBytes=100&sinceSeconds=9&tailLines=5&timestamps=true'
    assert.equal(heard.split('\r\n')[0], `GET ${path} HTTP/1.1`)
  })

  it('pass on the errors of kubelets', async () => {
    const cases = [
      ['400 Bad Request', 400, 'gone'],
      ['500 Internal', 500, 'Internal error occurred: gone'],
      ['404 Not Found', 404, 'the server could not find the requested resource ( pods/log p)'],
    ] as const
    for (const [line, code, message] of cases) {
      const reply = await logOf(`HTTP/1.1 ${line}\r\nContent-Length: 4\r\n\r\ngone`)
      assert.deepEqual([reply.status, reply.message], [code, message])
    }
  })
})

describe('the verbs of proxies', () => {
  it('are those of the methods, and OPTIONS needs all of them', async () => {
    const backend = createScriptedBackend(always('HTTP/1.1 204 No Content\r\n\r\n'))
    await using house = await openProxyHouse({ dial: backend.dial })
    await house.makePod('p', { node: 'own', ip: '10.1.1.1' })
    const reader = await createUser(house, 'reader', ['get'])
    const all = await createUser(house, 'all', ['*'])
    const outcomes: Record<string, number[]> = {}
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      outcomes[method] = []
      for (const peer of [reader, all])
        outcomes[method].push((await house.send(method, `${pods}/p/proxy/`, { peer })).status)
    }
    const no = [403, 204]
    assert.deepEqual(outcomes, {
      GET: [204, 204],
      HEAD: [204, 204],
      POST: no,
      PUT: no,
      PATCH: no,
      DELETE: no,
      OPTIONS: no,
    })
  })
})
