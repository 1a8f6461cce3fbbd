import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { isProjectError, type ProjectErrorCode } from '../../errors.ts'
import { mediaTypes } from '../../image/media-types.ts'
import { parseReference } from '../../image/reference.ts'
import { describeBytes, digestOf, memoryBlob } from '../image/blob.ts'
import { loadBase } from '../image/image-source.ts'
import { RegistryConnection } from './connection.ts'
import { findCredentials, type RegistryCredentials } from './docker-credentials.ts'
import { Repository } from './registry.ts'

interface FakeRegistry extends AsyncDisposable {
  readonly host: string
  readonly requests: { readonly line: string; readonly authorization: string | undefined }[]
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void

async function serve(answer: Answer): Promise<FakeRegistry> {
  const requests: FakeRegistry['requests'] = []
  const server = createServer((request, response) => {
    requests.push({ line: `${request.method} ${request.url}`, authorization: request.headers.authorization })
    if (request.url === '/v2/' && request.headers.authorization === undefined) return void response.end()
    answer(request, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

const password: RegistryCredentials = { type: 'password', username: 'sailor', password: 'ahoy' }
const basic = `Basic ${Buffer.from('sailor:ahoy').toString('base64')}`

function connect(
  host: string,
  credentials?: RegistryCredentials,
): RegistryConnection & { readonly sleeps: number[] } {
  const sleeps: number[] = []
  const connection = new RegistryConnection({
    registry: host,
    insecure: false,
    credentials: async () => credentials,
    environment: {},
    sleep: async milliseconds => void sleeps.push(milliseconds),
    idleTimeout: 5_000,
  })
  return Object.assign(connection, { sleeps })
}

const failsWith = (code: ProjectErrorCode, pattern: RegExp) => (error: unknown) =>
  isProjectError(error, code) && (pattern.test(error.message) || assert.fail(error.message))

const content = Buffer.from('layer')
const blob = memoryBlob(describeBytes(mediaTypes.layer, content), content)

/** Accepts an upload of one blob. */
const uploads: Answer = (request, response) => {
  if (request.method === 'HEAD') return void response.writeHead(404).end()
  if (request.method === 'POST')
    return void response.writeHead(202, { location: '/v2/x/blobs/uploads/1?state=a' }).end()
  request
    .resume()
    .on('end', () => response.writeHead(request.url?.includes('state=a&digest=sha256') ? 201 : 400).end())
}

describe('pushing a blob', () => {
  it('asks, uploads to the Location, and keeps its parameters', async () => {
    await using registry = await serve(uploads)
    using connection = connect(registry.host)
    assert.equal(await new Repository(connection, 'x').putBlob(blob), 'uploaded')
  })

  it('tries again what fails in passing, with growing pauses, and gives up', async () => {
    let left = 2
    await using registry = await serve((request, response) => {
      if (request.method === 'PUT' && left-- > 0) return void request.socket.destroy()
      uploads(request, response)
    })
    using connection = connect(registry.host)
    assert.equal(await new Repository(connection, 'x').putBlob(blob), 'uploaded')
    assert.deepEqual(connection.sleeps, [500, 1000])
    left = 99
    await assert.rejects(
      new Repository(connection, 'x').putBlob(blob),
      failsWith('RegistryFailed', /the connection was cut \(tried 4 times\)/),
    )
  })

  it('waits as long as the registry asks, within reason', async () => {
    let left = 2
    await using registry = await serve((request, response) => {
      if (left-- > 0)
        return void response.writeHead(429, { 'retry-after': left === 1 ? '7' : '100000' }).end()
      uploads(request, response)
    })
    using connection = connect(registry.host)
    await new Repository(connection, 'x').putBlob(blob)
    assert.deepEqual(connection.sleeps, [7000, 30_000])
  })

  it('sends no credentials to another host, wherever Location points', async () => {
    await using elsewhere = await serve(
      (request, response) => void request.resume().on('end', () => response.writeHead(201).end()),
    )
    await using registry = await serve((request, response) => {
      if (request.headers.authorization !== basic)
        return void response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end()
      if (request.method === 'POST')
        return void response.writeHead(202, { location: `http://${elsewhere.host}/up` }).end()
      uploads(request, response)
    })
    using connection = connect(registry.host, password)
    assert.equal(await new Repository(connection, 'x').putBlob(blob), 'uploaded')
    assert.deepEqual(
      elsewhere.requests.map(each => each.authorization),
      [undefined],
    )
  })

  it('refuses a Location that is no URL, or none', async () => {
    for (const [location, pattern] of [
      ['http://[', /Location that is not a URL/],
      ['file:///etc/passwd', /not HTTPS/],
      [undefined, /no Location/],
    ] as const) {
      await using registry = await serve((request, response) => {
        if (request.method === 'POST')
          return void response.writeHead(202, location === undefined ? {} : { location }).end()
        uploads(request, response)
      })
      using connection = connect(registry.host)
      await assert.rejects(
        new Repository(connection, 'x').putBlob(blob),
        failsWith('RegistryFailed', pattern),
      )
    }
  })
})

describe('authorization', () => {
  it('is a token of the service that the registry names', async () => {
    await using tokens = await serve((request, response) => {
      const granted =
        request.headers.authorization === basic && request.url?.includes('scope=repository%3Ax%3Apull%2Cpush')
      response.writeHead(granted ? 200 : 401).end('{"token":"T"}')
    })
    await using registry = await serve((request, response) => {
      const challenge = `Bearer realm="http://${tokens.host}/token",service="s",scope="repository:x:pull,push"`
      if (request.headers.authorization !== 'Bearer T')
        return void response.writeHead(401, { 'www-authenticate': challenge }).end()
      uploads(request, response)
    })
    using connection = connect(registry.host, password)
    assert.equal(await new Repository(connection, 'x').putBlob(blob), 'uploaded')
    assert.equal(tokens.requests.length, 1)
    assert.ok(
      registry.requests.every(each => each.authorization !== basic),
      'the password is for the service only',
    )
  })

  it('fails with one message, without retries, and says what to do', async () => {
    await using registry = await serve((_, response) => {
      const body = '{"errors":[{"code":"UNAUTHORIZED","message":"authentication\\nrequired"}]}'
      response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end(body)
    })
    for (const [credentials, pattern] of [
      [undefined, /there are no credentials for .*: run docker login/],
      [password, /are not accepted/],
    ] as const) {
      using connection = connect(registry.host, credentials)
      const opened = new Repository(connection, 'x').open(parseReference(`${registry.host}/x`))
      await assert.rejects(opened, failsWith('RegistryDenied', pattern))
      await assert.rejects(opened, /401: UNAUTHORIZED authentication required/)
      assert.deepEqual(connection.sleeps, [])
    }
  })

  it('does not loop when every request is refused, and takes no token that is not one', async () => {
    for (const answer of ['{"token":"a\\r\\nb"}', '{}', 'x'.repeat(2 ** 21), '[']) {
      await using registry: FakeRegistry = await serve((request, response) => {
        if (request.url?.startsWith('/token')) return void response.end(answer)
        response
          .writeHead(401, { 'www-authenticate': `Bearer realm="http://${request.headers.host}/token"` })
          .end()
      })
      using connection = connect(registry.host)
      const opened = new Repository(connection, 'x').open(parseReference(`${registry.host}/x`))
      await assert.rejects(opened, failsWith('RegistryFailed', /has no token|more than 1048576 bytes/))
      assert.ok(registry.requests.length < 6)
    }
  })
})

describe('reading an image', () => {
  const config = Buffer.from(
    JSON.stringify({
      os: 'linux',
      architecture: 'amd64',
      rootfs: { type: 'layers', diff_ids: ['sha256:x'] },
    }),
  )
  const manifest = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      config: describeBytes(mediaTypes.config, config),
      layers: [describeBytes(mediaTypes.layer, content)],
    }),
  )
  const image =
    (layer: Answer): Answer =>
    (request, response) => {
      if (request.url?.startsWith('/v2/x/manifests/'))
        return void response.writeHead(200, { 'content-type': mediaTypes.manifest }).end(manifest)
      if (request.url?.endsWith(digestOf(config))) return void response.end(config)
      layer(request, response)
    }

  async function readLayer(host: string, credentials?: RegistryCredentials): Promise<string> {
    using connection = connect(host, credentials)
    const source = await new Repository(connection, 'x').open(parseReference(`${host}/x:1`))
    const base = await loadBase(source, { os: 'linux', architecture: 'amd64' })
    let text = ''
    for await (const chunk of base.layers[0]!.open()) text += Buffer.from(chunk).toString()
    return text
  }

  it('follows redirects, without credentials to another host', async () => {
    await using storage = await serve((_, response) => void response.end(content))
    await using registry = await serve((request, response) => {
      if (request.headers.authorization !== basic)
        return void response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end()
      image((_, answer) => void answer.writeHead(307, { location: `http://${storage.host}/blob` }).end())(
        request,
        response,
      )
    })
    assert.equal(await readLayer(registry.host, password), 'layer')
    assert.deepEqual(
      storage.requests.map(each => each.authorization),
      [undefined],
    )
  })

  it('ends after a few redirects', async () => {
    await using registry = await serve(
      image((request, response) => void response.writeHead(302, { location: `${request.url}x` }).end()),
    )
    await assert.rejects(readLayer(registry.host), failsWith('RegistryFailed', /more than 5 redirects/))
  })

  it('refuses content with another digest, and content that does not end', async () => {
    await using wrong = await serve(image((_, response) => void response.end('other')))
    await assert.rejects(readLayer(wrong.host), failsWith('BadImage', /has the digest sha256:/))
    await using endless = await serve(
      image((_, response) => {
        const more = (failure?: Error | null) => {
          if (!failure && !response.destroyed)
            response.write('x'.repeat(65536), error => setImmediate(more, error))
        }
        more()
      }),
    )
    await assert.rejects(readLayer(endless.host), failsWith('BadImage', /more than its 5 bytes/))
  })

  it('refuses manifests that are too large, no JSON, or of another image', async () => {
    const answers: readonly [string, ProjectErrorCode, RegExp][] = [
      ['x'.repeat(5 * 2 ** 20), 'RegistryFailed', /more than 4194304 bytes/],
      ['<html>', 'BadImage', /not JSON/],
      ['{"config":{"digest":"sha256:../../etc"},"layers":[]}', 'BadImage', /no valid config/],
    ]
    for (const [text, code, pattern] of answers) {
      await using registry = await serve(
        (_, response) => void response.writeHead(200, { 'content-type': mediaTypes.manifest }).end(text),
      )
      await assert.rejects(readLayer(registry.host), failsWith(code, pattern))
    }
    await using registry = await serve(image(() => {}))
    using connection = connect(registry.host)
    const pinned = parseReference(`${registry.host}/x@sha256:${'0'.repeat(64)}`)
    await assert.rejects(
      new Repository(connection, 'x').open(pinned),
      failsWith('BadImage', /sent another manifest/),
    )
  })

  it('says when there is no registry', async () => {
    const registry = await serve(() => {})
    await registry[Symbol.asyncDispose]()
    await assert.rejects(readLayer(registry.host), failsWith('RegistryFailed', /connection refused/))
  })
})

describe('credentials', () => {
  const withConfig = async (config: string, registry: string, environment: Record<string, string> = {}) => {
    const folder = mkdtempSync(join(tmpdir(), 'coxswain-docker-'))
    try {
      writeFileSync(join(folder, 'config.json'), config)
      const helper = join(folder, 'docker-credential-chest')
      writeFileSync(
        helper,
        '#!/bin/sh\nread host\ncase $host in empty*) echo credentials not found in native keychain; exit 1;; bad*) echo no >&2; exit 1;; esac\necho "{\\"Username\\":\\"<token>\\",\\"Secret\\":\\"$host\\"}"\n',
      )
      chmodSync(helper, 0o755)
      return await findCredentials(registry, {
        DOCKER_CONFIG: folder,
        PATH: `${folder}:/usr/bin:/bin`,
        ...environment,
      })
    } finally {
      rmSync(folder, { recursive: true })
    }
  }
  const auth = Buffer.from('sailor:a:hoy').toString('base64')

  it('come from auths, by host', async () => {
    const config = JSON.stringify({
      auths: {
        'https://r.example.com/v1/': { auth },
        'https://index.docker.io/v1/': { auth },
        __proto__: {},
      },
    })
    const found = { type: 'password', username: 'sailor', password: 'a:hoy' }
    assert.deepEqual(await withConfig(config, 'r.example.com'), found)
    assert.deepEqual(await withConfig(config, 'docker.io'), found)
    assert.equal(await withConfig(config, 'other.example.com'), undefined)
    assert.equal(await withConfig(config, 'constructor'), undefined)
  })

  it('come from a helper', async () => {
    assert.deepEqual(await withConfig('{"credHelpers":{"r.io":"chest"}}', 'r.io'), {
      type: 'identityToken',
      token: 'r.io',
    })
    assert.deepEqual(await withConfig('{"credsStore":"chest"}', 'docker.io'), {
      type: 'identityToken',
      token: 'https://index.docker.io/v1/',
    })
    assert.equal(await withConfig('{"credsStore":"chest"}', 'empty.io'), undefined)
    await assert.rejects(
      withConfig('{"credsStore":"chest"}', 'bad.io'),
      failsWith('RegistryDenied', /docker-credential-chest.*failed: no/),
    )
    await assert.rejects(
      withConfig('{"credsStore":"../evil"}', 'r.io'),
      failsWith('RegistryDenied', /not one of a program/),
    )
  })

  it('are not shown when the file is broken', async () => {
    await assert.rejects(
      withConfig('{"auths": secret', 'r.io'),
      error => isProjectError(error, 'RegistryDenied') && !error.message.includes('secret'),
    )
    assert.equal(await findCredentials('r.io', { HOME: '/nowhere' }), undefined)
  })
})
