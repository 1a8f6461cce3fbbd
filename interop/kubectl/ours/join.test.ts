import assert from 'node:assert/strict'
import { createHash, createHmac, X509Certificate } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { parseKubeconfig } from '@coxswain/client/node'
import { execute, type RunningServer, startServer } from '../../support/coxswain.ts'
import { eventually } from '../../support/eventually.ts'
import { createKubectl, type Kubectl, succeeds } from '../../support/kubectl.ts'

// The steps of `kubeadm join`, one by one, with openssl, curl and kubectl.
const tokenId = 'abcdef'
const tokenSecret = '0123456789abcdef'
const node = 'joined'

let directory: string
let server: RunningServer
let admin: Kubectl
const file = (name: string, text?: string): string => {
  const path = join(directory, name)
  if (text !== undefined) writeFileSync(path, text)
  return path
}

before(async () => {
  directory = mkdtempSync(join(tmpdir(), 'coxswain-join-'))
  server = await startServer('--storage', 'memory', '--nodes', '0', '--enable-bootstrap-token-auth')
  admin = createKubectl('1.36', server.kubeconfig)
  const literals = Object.entries({
    'token-id': tokenId,
    'token-secret': tokenSecret,
    'usage-bootstrap-authentication': 'true',
    'usage-bootstrap-signing': 'true',
    'auth-extra-groups': 'system:bootstrappers:kubeadm:default-node-token',
  }).map(([key, value]) => `--from-literal=${key}=${value}`)
  const name = `bootstrap-token-${tokenId}`
  const type = '--type=bootstrap.kubernetes.io/token'
  await succeeds(admin('-n', 'kube-system', 'create', 'secret', 'generic', name, type, ...literals))
})
after(async () => {
  await server[Symbol.asyncDispose]()
  rmSync(directory, { recursive: true, force: true })
})

/** A kubectl for this server with other credentials. */
async function kubectlWith(name: string, ca: string, ...credentials: string[]): Promise<Kubectl> {
  const kubectl = createKubectl('1.36', file(`${name}.conf`))
  await succeeds(
    kubectl('config', 'set-cluster', 'c', `--server=${server.url}`, `--certificate-authority=${ca}`),
  )
  await succeeds(kubectl('config', 'set-credentials', 'u', ...credentials))
  await succeeds(kubectl('config', 'set-context', 'x', '--cluster=c', '--user=u'))
  await succeeds(kubectl('config', 'use-context', 'x'))
  return kubectl
}

/** A key and a request of openssl's for the node, as a CertificateSigningRequest. */
async function request(name: string, signer: string, usage: string, ...more: string[]): Promise<string> {
  const [key, pem] = [file(`${name}.key`), file(`${name}.csr`)]
  const subject = ['-subj', `/O=system:nodes/CN=system:node:${node}`, ...more]
  const files = ['-keyout', key, '-out', pem]
  await succeeds(execute('openssl', ['req', '-new', '-newkey', 'rsa:2048', '-nodes', ...subject, ...files]))
  return file(
    `${name}.json`,
    JSON.stringify({
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name },
      spec: {
        request: readFileSync(pem).toString('base64'),
        signerName: `kubernetes.io/${signer}`,
        usages: ['digital signature', 'key encipherment', usage],
      },
    }),
  )
}

async function certificateOf(name: string): Promise<string> {
  const path = ['get', 'csr', name, '-o', 'jsonpath={.status.certificate}']
  const text = await eventually('it is signed', async () => {
    const found = await succeeds(admin(...path))
    assert.notEqual(found, '')
    return found
  })
  return file(`${name}.crt`, Buffer.from(text, 'base64').toString())
}

describe('joining a node', { concurrency: 1 }, () => {
  let ca: string
  let bootstrap: Kubectl
  let kubelet: Kubectl

  it('begins with the public cluster-info, which the token signs', async () => {
    const url = `${server.url}/api/v1/namespaces/kube-public/configmaps/cluster-info`
    const { kubeconfig, signature } = await eventually('it is signed', async () => {
      const { data } = JSON.parse(await succeeds(execute('curl', ['-sSk', url])))
      const signed: unknown = data[`jws-kubeconfig-${tokenId}`]
      assert.equal(typeof signed, 'string')
      return { kubeconfig: String(data.kubeconfig), signature: String(signed) }
    })
    const [header = '', detached, mac] = signature.split('.')
    assert.equal(detached, '')
    const input = `${header}.${Buffer.from(kubeconfig).toString('base64url')}`
    assert.equal(createHmac('sha256', tokenSecret).update(input).digest('base64url'), mac)
    const [entry] = parseKubeconfig(kubeconfig, directory).clusters ?? []
    assert.equal(entry?.cluster.server, server.url)
    const pem = Buffer.from(entry?.cluster['certificate-authority-data'] ?? '', 'base64').toString()
    ca = file('ca.crt', pem)
    // The pin of `--discovery-token-ca-cert-hash`.
    const der = await succeeds(
      execute('sh', [
        '-c',
        `openssl x509 -pubkey -noout -in '${ca}' | openssl pkey -pubin -outform der | openssl dgst -sha256 -hex`,
      ]),
    )
    const spki = new X509Certificate(pem).publicKey.export({ type: 'spki', format: 'der' })
    assert.ok(der.trim().endsWith(createHash('sha256').update(spki).digest('hex')))
    const others = await execute('curl', ['-sSk', `${server.url}/api/v1/namespaces/kube-public/configmaps`])
    assert.match(others.stdout, /"code": ?403/)
  })

  it('goes on with the token, which may read what a kubelet starts with', async () => {
    bootstrap = await kubectlWith('bootstrap', ca, `--token=${tokenId}.${tokenSecret}`)
    assert.match(await succeeds(bootstrap('auth', 'whoami')), /system:bootstrap:abcdef/)
    for (const [name, kind] of [
      ['kubeadm-config', 'ClusterConfiguration'],
      ['kubelet-config', 'KubeletConfiguration'],
    ] as const)
      assert.match(
        await succeeds(bootstrap('-n', 'kube-system', 'get', 'configmap', name, '-o', 'yaml')),
        new RegExp(`kind: ${kind}`),
      )
    assert.match((await bootstrap('get', 'node', node)).stderr, /NotFound/)
    assert.match((await bootstrap('get', 'secrets', '-A')).stderr, /Forbidden/)
  })

  it('gets a client certificate that is approved and signed by itself', async () => {
    const path = await request('client', 'kube-apiserver-client-kubelet', 'client auth')
    await succeeds(bootstrap('create', '-f', path))
    const cert = await certificateOf('client')
    assert.match(await succeeds(admin('get', 'csr', 'client')), /Approved,Issued/)
    const verify = ['verify', '-CAfile', ca, '-purpose', 'sslclient', cert]
    assert.match(await succeeds(execute('openssl', verify)), /OK/)
    const credentials = [`--client-certificate=${cert}`, `--client-key=${file('client.key')}`]
    kubelet = await kubectlWith('kubelet', ca, ...credentials)
  })

  it('registers the node as itself and no other', async () => {
    const make = (name: string) =>
      file(`node-${name}.json`, JSON.stringify({ apiVersion: 'v1', kind: 'Node', metadata: { name } }))
    await succeeds(kubelet('create', '-f', make(node)))
    assert.match((await kubelet('create', '-f', make('other'))).stderr, /Forbidden|is not allowed/)
    assert.match(await succeeds(admin('get', 'nodes')), /^joined /m)
  })

  it('gets a serving certificate once it is approved', async () => {
    const names = ['-addext', `subjectAltName=DNS:${node},IP:192.0.2.5`]
    const path = await request('serving', 'kubelet-serving', 'server auth', ...names)
    await succeeds(kubelet('create', '-f', path))
    assert.match(await succeeds(admin('get', 'csr', 'serving')), /Pending/)
    await succeeds(admin('certificate', 'approve', 'serving'))
    const cert = await certificateOf('serving')
    const verify = ['verify', '-CAfile', ca, '-purpose', 'sslserver', '-verify_ip', '192.0.2.5', cert]
    assert.match(await succeeds(execute('openssl', verify)), /OK/)
    const text = await succeeds(execute('openssl', ['x509', '-noout', '-text', '-in', cert]))
    assert.match(text, /TLS Web Server Authentication/)
    assert.doesNotMatch(text, /TLS Web Client Authentication/)
  })

  it('renews the client certificate with the node’s own', async () => {
    const path = await request('renewed', 'kube-apiserver-client-kubelet', 'client auth')
    await succeeds(kubelet('create', '-f', path))
    await certificateOf('renewed')
    const { stdout } = await admin('get', 'csr', 'renewed', '-o', 'jsonpath={.status.conditions[0].message}')
    assert.match(stdout, /Auto approving self kubelet client certificate/)
  })
})
