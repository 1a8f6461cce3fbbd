import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { type KubeletCluster, startKubeletCluster } from './cluster/cluster.ts'
import type { ControlPlane } from './cluster/control-plane.ts'
import { agnhostImage } from './images/test-images.ts'

let cluster: KubeletCluster
let controlPlane: ControlPlane

const labels = { app: 'web' }
const web = [
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: {
      replicas: 4,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          containers: [
            {
              name: 'web',
              image: agnhostImage,
              args: ['netexec', '--http-port=8080'],
              readinessProbe: { httpGet: { path: '/healthz', port: 8080 }, periodSeconds: 1 },
            },
          ],
          // Pods leave a lost node after this long instead of five minutes.
          tolerations: [
            {
              key: 'node.kubernetes.io/unreachable',
              operator: 'Exists',
              effect: 'NoExecute',
              tolerationSeconds: 5,
            },
          ],
          topologySpreadConstraints: [
            {
              maxSkew: 1,
              topologyKey: 'kubernetes.io/hostname',
              whenUnsatisfiable: 'ScheduleAnyway',
              labelSelector: { matchLabels: labels },
            },
          ],
        },
      },
    },
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web' },
    spec: { type: 'NodePort', selector: labels, ports: [{ port: 80, targetPort: 8080 }] },
  },
]

interface PodFacts {
  readonly name: string
  readonly node: string
  readonly ip: string
}

async function webPods(): Promise<PodFacts[]> {
  const fields = '{.metadata.name}{" "}{.spec.nodeName}{" "}{.status.podIP}{"\\n"}'
  const { stdout } = await controlPlane.kubectl(
    ...['get', 'pods', '--selector', 'app=web', '--output', `jsonpath={range .items[*]}${fields}{end}`],
  )
  return stdout
    .trim()
    .split('\n')
    .map(line => {
      const [name = '', node = '', ip = ''] = line.split(' ')
      return { name, node, ip }
    })
}

/** What a command prints inside a Pod. */
const inPod = async (pod: string, ...command: string[]) => {
  const { code, stdout, stderr } = await controlPlane.kubectl('exec', pod, '--', ...command)
  assert.equal(code, 0, stderr)
  return stdout
}

describe('real kubelets on our control plane', { concurrency: 1 }, () => {
  before(async () => {
    cluster = await startKubeletCluster()
    ;({ controlPlane } = cluster)
    await controlPlane.apply(...web)
    await controlPlane.ok('rollout status deployment/web --timeout=180s')
  })
  after(() => cluster?.[Symbol.asyncDispose]())

  it('join with kubeadm: by a bootstrap token and certificates that the control plane signs', async () => {
    const nodes = await controlPlane.ok('get nodes --no-headers')
    assert.match(nodes, /^node-1 +Ready .* v1\.36\.4\nnode-2 +Ready .* v1\.36\.4\n$/)
    const requests = await controlPlane.ok('get csr --no-headers')
    const of = (signer: string, user: string) =>
      requests.split('\n').filter(line => line.includes(signer) && line.includes(user))
    for (const line of [
      ...of('kubernetes.io/kube-apiserver-client-kubelet', 'system:bootstrap:'),
      ...of('kubernetes.io/kubelet-serving', 'system:node:'),
    ])
      assert.match(line, /Approved,Issued/)
    assert.equal(of('kubernetes.io/kube-apiserver-client-kubelet', 'system:bootstrap:').length, 2)
    for (const { host, name } of cluster.nodes) {
      const certificate = '/var/lib/kubelet/pki/kubelet-client-current.pem'
      const subject = await host.run('openssl', ['x509', '-noout', '-subject', '-in', certificate])
      assert.match(subject, new RegExp(`O = system:nodes, CN = system:node:${name}`))
    }
  })

  it('run the Pods of a Deployment as containers, on both nodes', async () => {
    const pods = await webPods()
    assert.deepEqual([...new Set(pods.map(({ node }) => node))].toSorted(), ['node-1', 'node-2'])
    for (const { name, node } of pods) {
      const host = cluster.nodes.find(each => each.name === node)!.host
      assert.match(await host.run('ps', ['ax', '-o', 'args']), /agnhost netexec --http-port=8080/)
      assert.equal((await inPod(name, 'hostname')).trim(), name)
    }
  })

  it('answer logs, exec, cp and port-forward, with a serving certificate that is verified', async () => {
    const [{ name } = { name: '' }] = await webPods()
    assert.match(await controlPlane.ok(`logs ${name}`), /Started HTTP server on port 8080/)
    const typed = await controlPlane.kubectl('exec', name, '--', 'sh', '-c', 'echo out; echo err >&2; exit 3')
    assert.deepEqual(
      [typed.code, typed.stdout.trim(), typed.stderr.split('\n')[0]],
      [3, 'out', 'err'],
      'exit codes and both streams come back',
    )
    const local = join(controlPlane.host.folder, 'greeting')
    writeFileSync(local, 'ahoy')
    await controlPlane.ok(`cp ${local} ${name}:/tmp/greeting`)
    assert.equal(await inPod(name, 'cat', '/tmp/greeting'), 'ahoy')
    await controlPlane.ok(`cp ${name}:/tmp/greeting ${local}-back`)
    assert.equal(readFileSync(`${local}-back`, 'utf8'), 'ahoy')
    const script = `"$0" port-forward ${name} 18080:8080 >/dev/null & while ! curl -sf 127.0.0.1:18080/hostname; do sleep 0.2; done; kill $!`
    const forwarded = await controlPlane.inside('timeout', [
      '60',
      'sh',
      '-c',
      script,
      controlPlane.kubectlPath,
    ])
    assert.equal(forwarded.stdout, name)
  })

  it('are reached by the proxies of Pods, Services and nodes', async () => {
    const [{ name } = { name: '' }] = await webPods()
    assert.equal(
      await controlPlane.ok(`get --raw /api/v1/namespaces/default/pods/${name}:8080/proxy/hostname`),
      name,
    )
    await controlPlane.ok('get --raw /api/v1/namespaces/default/services/web:80/proxy/hostname', /^web-/)
    await controlPlane.ok('get --raw /api/v1/nodes/node-1/proxy/healthz', 'ok')
    await controlPlane.until('top node node-1', /node-1 +\d+m/)
  })

  it('find Services by cluster IP, node port and name', async () => {
    const [{ name } = { name: '' }] = await webPods()
    const [ip, port] = (
      await controlPlane.ok("get service web -o jsonpath='{.spec.clusterIP} {.spec.ports[0].nodePort}'")
    ).split(' ')
    const urls = [
      `http://${ip}/hostname`,
      'http://web/hostname',
      'http://web.default.svc.cluster.local/hostname',
      ...cluster.nodes.map(({ address }) => `http://${address}:${port}/hostname`),
    ]
    for (const url of urls)
      await eventually(url, async () => /^web-/.test(await inPod(name, 'curl', '-sf', '-m', '5', url)))
    const fromOutside = `http://${cluster.nodes[0]!.address}:${port}/hostname`
    assert.match(await controlPlane.host.run('curl', ['-sf', '-m', '10', fromOutside]), /^web-/)
    assert.match(await inPod(name, 'dig', '+short', '+search', 'kubernetes.default'), /^10\.96\.0\.1$/m)
  })

  it('carry traffic between Pods of different nodes, with their own addresses', async () => {
    const pods = await webPods()
    const from = pods.find(({ node }) => node === 'node-1')!
    const to = pods.find(({ node }) => node === 'node-2')!
    assert.equal(await inPod(from.name, 'curl', '-sf', `http://${to.ip}:8080/hostname`), to.name)
    const seen = await inPod(from.name, 'curl', '-sf', `http://${to.ip}:8080/clientip`)
    assert.equal(seen.split(':')[0], from.ip)
  })

  it('give Pods an account that the API server knows', async () => {
    await controlPlane.ok('create rolebinding view --clusterrole=view --serviceaccount=default:default')
    const [{ name } = { name: '' }] = await webPods()
    const folder = '/var/run/secrets/kubernetes.io/serviceaccount'
    const request = `curl -sf --cacert ${folder}/ca.crt -H "Authorization: Bearer $(cat ${folder}/token)"`
    const server = 'https://kubernetes.default.svc'
    const listed = await inPod(name, 'sh', '-c', `${request} ${server}/api/v1/namespaces/default/pods`)
    assert.match(listed, /"kind":\s*"PodList"/)
    const status = "-o /dev/null -w '%{http_code}' "
    const refused = await controlPlane.kubectl(
      ...[
        'exec',
        name,
        '--',
        'sh',
        '-c',
        `${request} ${status} ${server}/api/v1/namespaces/kube-system/secrets`,
      ],
    )
    assert.equal(refused.stdout, '403')
    // What checks tokens outside of the API server finds the keys from inside a Pod.
    const discovery = await controlPlane.ok('get --raw /.well-known/openid-configuration')
    const { jwks_uri: keys } = JSON.parse(discovery) as { jwks_uri: string }
    assert.match(await inPod(name, 'sh', '-c', `${request} ${keys}`), /"keys"/)
  })

  it('lose their Pods when they are lost, and take new ones when they are back', async () => {
    const [lost, kept] = cluster.nodes
    await lost!.kubelet.stop('SIGKILL')
    await controlPlane.until(
      `get node ${lost!.name} -o jsonpath={.spec.taints}`,
      /unreachable.*NoExecute|NoExecute.*unreachable/,
    )
    await controlPlane.ok(`wait node ${lost!.name} --for=condition=Ready=Unknown --timeout=120s`)
    await eventually('four available Pods on the node that is left', async () => {
      const fields = '{.items[?(@.status.phase=="Running")].spec.nodeName}'
      const nodes = await controlPlane.ok(`get pods --selector app=web -o jsonpath='${fields}'`)
      return nodes.split(' ').filter(name => name === kept!.name).length === 4
    })
    await lost!.startKubelet()
    await controlPlane.ok(`wait node ${lost!.name} --for=condition=Ready --timeout=120s`)
    await controlPlane.until(`get node ${lost!.name} -o jsonpath={.spec.taints}`, '')
    await controlPlane.ok('scale deployment/web --replicas=8')
    await controlPlane.ok('rollout status deployment/web --timeout=120s')
    await eventually('Pods on the node that is back', async () =>
      (await webPods()).some(({ node }) => node === lost!.name),
    )
  })
})
