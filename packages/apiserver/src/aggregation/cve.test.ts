import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { encodeText } from '@coxswain/kit'
import { always, createScriptedBackend } from '../nodes/test-support/scripted-backend.ts'
import { address, collection, json, openWardle } from './test-support/wardle.ts'

const upgrade = { connection: 'Upgrade', upgrade: 'websocket' }

describe('CVE-2018-1002105: an upgrade that an extension API server refuses leaves no connection behind', () => {
  it('relays the refusal, and closes the connection', async () => {
    const backend = createScriptedBackend(always('HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno'))
    await using house = await openWardle(undefined, { dials: { [address]: backend.dial } })
    const { status, body, conversation } = await house.raw('GET', `${collection}/x/attach`, {
      headers: upgrade,
    })
    assert.equal(status, 403)
    assert.equal(conversation, undefined)
    for await (const _ of body as AsyncIterable<Uint8Array>);
    assert.deepEqual(backend.closed, [true])
    assert.equal(backend.heard[0]!.split('HTTP/1.1').length, 2)
  })

  it('treats a success as an error', async () => {
    const backend = createScriptedBackend(always('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi'))
    await using house = await openWardle(undefined, { dials: { [address]: backend.dial } })
    const reply = await house.send('GET', `${collection}/x/attach`, { headers: upgrade })
    assert.deepEqual([reply.status, reply.text], [503, 'invalid upgrade response: status code 200\n'])
    assert.deepEqual(backend.closed, [true])
  })

  it('sends the identity of the client with an upgrade, and none of its credentials', async () => {
    const backend = createScriptedBackend(always('HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno'))
    await using house = await openWardle(undefined, { dials: { [address]: backend.dial } })
    const headers = {
      ...upgrade,
      authorization: 'Bearer secret',
      'x-remote-user': 'mallory',
      'x-remote-group': 'g',
    }
    await house.raw('GET', `${collection}/x/attach?container=c`, { headers })
    const [heard = ''] = backend.heard
    assert.match(
      heard,
      /^GET \/apis\/wardle\.example\.com\/v1\/namespaces\/default\/flunders\/x\/attach\?container=c /,
    )
    assert.match(heard, /\r\nx-remote-user: admin\r\n/)
    assert.match(heard, /\r\nx-remote-group: system:masters\r\nx-remote-group: system:authenticated\r\n/)
    assert.doesNotMatch(heard, /secret|mallory/)
  })
})

describe('CVE-2020-8559, CVE-2022-3172: an extension API server cannot send clients or this server elsewhere', () => {
  it('answers a redirect with a 502 and without its location', async () => {
    for (const status of [301, 302, 303, 307, 308]) {
      const headers = { location: 'https://evil.example/', 'set-cookie': 'a=b' }
      await using house = await openWardle(async () => ({ status, headers, body: encodeText('moved') }))
      for (const method of ['GET', 'POST']) {
        const reply = await house.send(method, collection)
        const text = 'the backend attempted to redirect this request, which is not permitted'
        assert.deepEqual([reply.status, reply.text, reply.headers.location], [502, text, undefined])
        assert.equal(reply.headers['set-cookie'], undefined)
      }
      assert.equal(house.requests.length, 2)
    }
  })

  it('neither follows nor passes on the redirect of an upgrade', async () => {
    const moved = 'HTTP/1.1 302 Found\r\nLocation: https://evil.example/\r\nContent-Length: 0\r\n\r\n'
    const backend = createScriptedBackend(always(moved))
    await using house = await openWardle(undefined, { dials: { [address]: backend.dial } })
    const reply = await house.send('GET', `${collection}/x/attach`, { headers: upgrade })
    assert.deepEqual([reply.status, reply.headers.location], [503, undefined])
    assert.equal(backend.heard.length, 1)
  })
})

describe('CVE-2022-3294: an extension API server sees the path that was authorized', () => {
  it('is not asked for paths that it could read differently', async () => {
    await using house = await openWardle(async () => json(200, {}))
    const paths = ['../../secrets', '%2e%2e/secrets', './x', 'a%2fb', 'a%2F..%2Fb']
    for (const path of paths)
      assert.equal((await house.send('GET', `${collection}/${path}`)).status, 404, path)
    assert.equal(house.requests.length, 0)
    await house.send('GET', `${collection}/a%20b%25c`)
    assert.equal(house.requests[0]?.path, `${collection}/a%20b%25c`)
  })
})
