import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { type RunningServer, startServer } from '../../support/coxswain.ts'
import { type FakeKubelet, startFakeKubelet } from '../../support/fake-kubelet.ts'
import { createKubectl, type Kubectl, kubectlVersions, succeeds } from '../../support/kubectl.ts'

describe('pods on a node that is not ours', () => {
  const directory = mkdtempSync(join(tmpdir(), 'kubelet-'))
  let kubelet: FakeKubelet
  let server: RunningServer
  const file = (name: string, content: string): string => {
    writeFileSync(join(directory, name), content)
    return join(directory, name)
  }
  before(async () => {
    kubelet = await startFakeKubelet()
    server = await startServer(
      '--controllers',
      'none',
      '--kubelet-client-certificate',
      file('client.crt', kubelet.client.certificate),
      '--kubelet-client-key',
      file('client.key', kubelet.client.key),
      '--kubelet-certificate-authority',
      file('ca.crt', kubelet.ca.certificate),
      '--kubelet-preferred-address-types',
      'InternalIP,Hostname',
    )
    await makeObjects(createKubectl('1.36', server.kubeconfig))
  })
  after(async () => {
    await server?.[Symbol.asyncDispose]()
    await kubelet?.[Symbol.asyncDispose]()
    rmSync(directory, { recursive: true, force: true })
  })

  async function makeObjects(kubectl: Kubectl): Promise<void> {
    const node = (name: string, address: string, Port: number) => ({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name },
      status: {
        addresses: [
          { type: 'Hostname', address: 'no-such-host.invalid' },
          { type: 'InternalIP', address },
        ],
        daemonEndpoints: { kubeletEndpoint: { Port } },
      },
    })
    const pod = (name: string, nodeName: string) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name },
      spec: { nodeName, containers: [{ name: 'main', image: 'x' }] },
      status: { phase: 'Running' },
    })
    const items = [
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } },
      node('elsewhere', '127.0.0.1', kubelet.port),
      node('dead', '127.0.0.1', 1),
      pod('p', 'elsewhere'),
      pod('q', 'dead'),
    ]
    await succeeds(
      kubectl('apply', '-f', file('objects.json', JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))),
    )
    const running = JSON.stringify({ status: { phase: 'Running' } })
    await succeeds(kubectl('patch', 'pod', 'p', '--subresource=status', '--type=merge', '-p', running))
  }

  it('use what its kubelet reports; a node that does not answer is left out', async () => {
    const kubectl = createKubectl('1.36', server.kubeconfig)
    const status = {
      conditions: [{ type: 'Ready', status: 'True' }],
      allocatable: { cpu: '1', memory: '64Mi' },
    }
    const ready = ['--subresource=status', '--type=merge', '-p', JSON.stringify({ status })]
    for (const name of ['dead', 'elsewhere']) await succeeds(kubectl('patch', 'node', name, ...ready))
    const nodes = await succeeds(kubectl('top', 'nodes', '--no-headers'))
    assert.match(nodes, /^elsewhere +120m +12% +32Mi +50%/m)
    assert.match(nodes, /^dead +<unknown>/m)
    assert.match(await succeeds(kubectl('top', 'pod', 'p', '--no-headers')), /^p +120m +32Mi/)
  })

  for (const version of kubectlVersions) {
    describe(`kubectl ${version}`, () => {
      let kubectl: Kubectl
      before(() => {
        kubectl = createKubectl(version, server.kubeconfig)
      })

      it('prints and follows logs', async () => {
        assert.equal(await succeeds(kubectl('logs', 'p', '--tail=5')), 'first line\n')
        assert.equal(kubelet.asked.at(-1), 'kube-apiserver GET /containerLogs/default/p/main?tailLines=5')
        await using following = kubectl.follow('logs', '-f', 'p')
        await following.until(/second line/)
      })

      it('runs commands', async () => {
        assert.equal(await succeeds(kubectl('exec', 'p', '--', 'echo', 'a b')), 'ran echo a b\n')
        assert.match(
          kubelet.asked.at(-1)!,
          /^kube-apiserver \w+ \/exec\/default\/p\/main\?command=echo&command=a%20b/,
        )
        const { code, stdout } = await kubectl('exec', 'p', '--', 'false')
        assert.deepEqual([code, stdout], [3, 'ran false\n'])
      })

      it('forwards ports', async () => {
        await using forwarding = kubectl.follow('port-forward', 'p', ':80')
        const line = await forwarding.until(/Forwarding from 127/)
        const [, port] = /127\.0\.0\.1:(\d+)/.exec(line)!
        assert.equal(await (await fetch(`http://127.0.0.1:${port}/`)).text(), 'port 80')
      })

      it('says that a kubelet does not answer', async () => {
        const { stderr } = await kubectl('logs', 'q')
        const url = 'https://127.0.0.1:1/containerLogs/default/q/main'
        assert.match(stderr, new RegExp(`Get "${url}": dial tcp 127.0.0.1:1: connect: connection refused`))
      })

      it('does not reach the node through a proxy, because its address belongs to the API server', async () => {
        const { stderr } = await kubectl('get', '--raw', '/api/v1/nodes/elsewhere/proxy/healthz')
        assert.match(stderr, /address not allowed/)
      })
    })
  }
})

describe('a kubelet whose certificate another CA signed', () => {
  it('is not spoken to', async () => {
    await using kubelet = await startFakeKubelet()
    await using other = await startFakeKubelet()
    const directory = mkdtempSync(join(tmpdir(), 'kubelet-'))
    const ca = join(directory, 'ca.crt')
    // The same name, another key: signatures are what counts.
    writeFileSync(ca, other.ca.certificate)
    await using server = await startServer('--controllers', 'none', '--kubelet-certificate-authority', ca)
    const kubectl = createKubectl('1.36', server.kubeconfig)
    const items = [
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } },
      {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name: 'n' },
        status: {
          addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
          daemonEndpoints: { kubeletEndpoint: { Port: kubelet.port } },
        },
      },
      {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'p' },
        spec: { nodeName: 'n', containers: [{ name: 'main', image: 'x' }] },
      },
    ]
    const file = join(directory, 'objects.json')
    writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))
    await succeeds(kubectl('apply', '-f', file))
    const { stderr } = await kubectl('logs', 'p')
    assert.match(stderr, /tls: failed to verify certificate: x509: certificate signed by unknown authority/)
    assert.deepEqual(kubelet.asked, [])
    rmSync(directory, { recursive: true, force: true })
  })
})
