import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { execute, type RunningServer, startServer } from '../../support/coxswain.ts'
import { createKubectl, succeeds } from '../../support/kubectl.ts'

let directory: string
before(() => {
  directory = mkdtempSync(join(tmpdir(), 'coxswain-serving-'))
})
after(() => rmSync(directory, { recursive: true, force: true }))

const portOf = ({ url }: RunningServer): string => new URL(url).port

/** A self-signed certificate of openssl's. */
async function makeCertificate(name: string, ...names: string[]): Promise<{ cert: string; key: string }> {
  const [cert, key] = [join(directory, `${name}.crt`), join(directory, `${name}.key`)]
  const subject = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=${names.map(of => `DNS:${of}`).join()}`]
  const files = ['-keyout', key, '-out', cert, '-days', '2']
  await succeeds(execute('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...subject, ...files]))
  return { cert, key }
}

/** What openssl prints of the certificate that a client is shown. */
async function show(server: RunningServer, host: string, name?: string): Promise<string> {
  const sni = name === undefined ? ['-noservername'] : ['-servername', name]
  const address = ['-connect', `${host}:${portOf(server)}`]
  const pem = await succeeds(execute('openssl', ['s_client', ...address, ...sni], {}, ''))
  const print = ['x509', '-noout', '-subject', '-ext', 'subjectAltName']
  return await succeeds(execute('openssl', print, {}, pem))
}

describe('coxswain up on an address of your choice', () => {
  it('serves there, advertises the given address, and has all names in its certificate', async () => {
    const certDir = join(directory, 'pki')
    await using server = await startServer(
      ...['--storage', 'memory', '--nodes', '0', '--bind-address', '127.0.0.2'],
      ...['--advertise-address', '192.0.2.77', '--cert-dir', certDir],
    )
    assert.match(server.url, /^https:\/\/127\.0\.0\.2:/)
    const kubectl = createKubectl('1.36', server.kubeconfig)
    const names = await show(server, '127.0.0.2')
    for (const name of [
      'IP Address:127.0.0.2',
      'IP Address:192.0.2.77',
      'IP Address:10.96.0.1',
      'DNS:kubernetes.default.svc',
      `DNS:${hostname().toLowerCase()}`,
    ])
      assert.ok(names.includes(name), `${name} in ${names}`)
    const addresses = '{.endpoints[*].addresses[*]}:{.ports[*].port}'
    const slice = ['get', 'endpointslice', 'kubernetes', '-o', `jsonpath=${addresses}`]
    assert.equal(await succeeds(kubectl(...slice)), `192.0.2.77:${portOf(server)}`)
    const issuer = JSON.parse(await succeeds(kubectl('get', '--raw', '/.well-known/openid-configuration')))
    assert.equal(issuer.jwks_uri, `https://192.0.2.77:${portOf(server)}/openid/v1/jwks`)
    const curl = ['-sS', '--cacert', join(certDir, 'ca.crt')]
    assert.equal(await succeeds(execute('curl', [...curl, `${server.url}/livez`])), 'ok')
    const trust = ['-n', 'kube-system', 'get', 'configmap', 'extension-apiserver-authentication']
    const published = await succeeds(kubectl(...trust, '-o', 'jsonpath={.data.requestheader-client-ca-file}'))
    assert.equal(published, readFileSync(join(certDir, 'front-proxy-ca.crt'), 'utf8'))
  })

  it('tells Pods of a jwks URI that this machine can reach when it serves only there', async () => {
    await using server = await startServer('--storage', 'memory', '--controllers', 'none')
    const kubectl = createKubectl('1.36', server.kubeconfig)
    const { jwks_uri } = JSON.parse(
      await succeeds(kubectl('get', '--raw', '/.well-known/openid-configuration')),
    )
    assert.equal(jwks_uri, `${server.url}/openid/v1/jwks`)
  })

  it('serves the certificates of the flags by name, and kubectl works whatever they are', async () => {
    const own = await makeCertificate('front', 'front.test')
    const named = await makeCertificate('named', 'named.test')
    await using server = await startServer(
      ...['--storage', 'memory', '--nodes', '0', '--bind-address', '0.0.0.0'],
      ...['--tls-cert-file', own.cert, '--tls-private-key-file', own.key],
      ...['--tls-sni-cert-key', `${named.cert},${named.key}:*.named.test,named.test`],
    )
    assert.match(await show(server, '127.0.0.1'), /CN ?= ?front/)
    assert.match(await show(server, '127.0.0.1', 'other.test'), /CN ?= ?front/)
    assert.match(await show(server, '127.0.0.1', 'a.named.test'), /CN ?= ?named/)
    const curl = ['-sS', '--cacert', own.cert, '--resolve', `front.test:${portOf(server)}:127.0.0.1`]
    assert.equal(
      await succeeds(execute('curl', [...curl, `https://front.test:${portOf(server)}/livez`])),
      'ok',
    )
    for (const version of ['1.20', '1.36'] as const) {
      const kubectl = createKubectl(version, server.kubeconfig)
      assert.match(await succeeds(kubectl('get', 'namespaces')), /kube-system/)
    }
    const kubectl = createKubectl('1.36', server.kubeconfig)
    const rootCa = ['get', 'configmap', 'kube-root-ca.crt', '-o', 'jsonpath={.data.ca\\.crt}']
    writeFileSync(join(directory, 'root.crt'), await succeeds(kubectl(...rootCa)))
    const pod = ['-sS', '--cacert', join(directory, 'root.crt'), '--resolve']
    const url = `https://front.test:${portOf(server)}/livez`
    assert.equal(
      await succeeds(execute('curl', [...pod, `front.test:${portOf(server)}:127.0.0.1`, url])),
      'ok',
    )
  })
})
