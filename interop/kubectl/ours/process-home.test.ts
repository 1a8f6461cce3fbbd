import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { chooseIsolation } from '@coxswain/kubelet/process'
import { type RunningServer, root, startServer } from '../../support/coxswain.ts'
import { createKubectl, type Kubectl, succeeds } from '../../support/kubectl.ts'
import { expecting } from '../session.ts'

const { isolation: allowed, obstacle } = await chooseIsolation('auto')
const mayListen = process.getuid?.() === 0
const directory = mkdtempSync(join(tmpdir(), 'process-home-'))
after(() => rmSync(directory, { recursive: true, force: true }))
// Others may run the same on this machine.
const network = 64 + (process.pid % 128)

function write(name: string, object: object): string {
  const file = join(directory, `${name}.json`)
  writeFileSync(file, JSON.stringify(object))
  return file
}

function pod(name: string, container: object, spec: object = {}): string {
  const containers = [{ name: 'main', image: 'node', ...container }]
  const metadata = { name }
  return write(name, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata,
    spec: { terminationGracePeriodSeconds: 1, restartPolicy: 'Never', ...spec, containers },
  })
}

/** What an operator does first, with Node alone: it reads its account at the usual place and asks for its namespace. */
const operator = `
const { readFileSync } = require('node:fs')
const at = require('node:path').join(process.env.ACCOUNT_ROOT || '/', 'var/run/secrets/kubernetes.io/serviceaccount')
const [token, ca, namespace] = ['token', 'ca.crt', 'namespace'].map(name => readFileSync(at + '/' + name, 'utf8'))
const options = { ca, headers: { authorization: 'Bearer ' + token } }
require('node:https').get(process.env.SERVER + '/apis/authentication.k8s.io/v1', options, answer => {
  console.log(answer.statusCode, namespace)
  answer.resume()
}).on('error', error => console.log(error.message))
`

for (const isolation of allowed === 'none' ? (['none'] as const) : (['auto', 'none'] as const))
  describe(`Pods at home with isolation ${isolation}${obstacle === undefined ? '' : `: this machine has no namespaces (${obstacle})`}`, () => {
    let server: RunningServer
    let kubectl: Kubectl
    let until: ReturnType<typeof expecting>['until']
    const isIsolated = isolation === 'auto'
    /** Creates a Pod, and gives what it has printed when it is over. */
    const run = async (name: string, file: string): Promise<string> => {
      await succeeds(kubectl('apply', '-f', file))
      await until(`get pod ${name} -o jsonpath={.status.phase}`, /Succeeded|Failed/)
      return await succeeds(kubectl('logs', name))
    }
    before(async () => {
      const range = `10.${isIsolated ? network : network + 1}.0.0/16`
      const options = ['--isolation', isolation, '--service-cluster-ip-range', range]
      server = await startServer('--runtime', 'process', ...options)
      kubectl = createKubectl('1.36', server.kubeconfig)
      until = expecting('kubectl', kubectl).until
    })
    after(async () => await server[Symbol.asyncDispose]())

    it('tell in a condition of the node what they have', async () => {
      const path = '.status.conditions[?(@.type=="ContainersIsolated")].reason'
      await until(`get node node-1 -o jsonpath={${path}}`, isIsolated ? 'Namespaces' : 'NoNamespaces')
    })

    it('run our own operators, which find their account by themselves', async () => {
      const file = join(root, 'packages/client/src/node/index.ts')
      const script = `
        import { createClientFromKubeconfig } from ${JSON.stringify(file)}
        await using connected = await createClientFromKubeconfig()
        const request = { method: 'GET', path: '/api/v1/namespaces/default/configmaps', query: '', headers: {} }
        const { status } = await connected.transport.send({ ...request, signal: new AbortController().signal })
        console.log(connected.namespace, status)`
      const path = join(directory, `own-${isolation}.mjs`)
      writeFileSync(path, script)
      const command = [process.execPath, path]
      assert.equal(await run('own', pod('own', { command })), 'default 403\n', 'known, without any rights')
    })

    it('run operators in any language that ask at https://kubernetes.default.svc', async () => {
      // Without namespaces the names of services are unknown; without rights to ports below 1024 there is no listener on 443 or 53.
      const hasNames = isIsolated && mayListen
      const env = [
        {
          name: 'SERVER',
          value: hasNames
            ? 'https://kubernetes.default.svc'
            : 'https://$(KUBERNETES_SERVICE_HOST):$(KUBERNETES_SERVICE_PORT)',
        },
      ]
      const script = isIsolated
        ? operator
        : `process.env.ACCOUNT_ROOT = process.env.COXSWAIN_ROOT;${operator}`
      const file = pod('operator', { command: [process.execPath, '-e', script], env })
      assert.equal(await run('operator', file), '200 default\n')
    })

    if (isIsolated)
      it('have volumes, hosts and a hostname of their own, which commands of exec see too', async () => {
        await succeeds(kubectl('create', 'configmap', 'conf', '--from-literal=key=value'))
        const volumes = [
          { name: 'conf', configMap: { name: 'conf' } },
          { name: 'scratch', emptyDir: {} },
        ]
        const volumeMounts = [
          { name: 'conf', mountPath: `/conf-${process.pid}` },
          { name: 'scratch', mountPath: '/scratch' },
          { name: 'scratch', mountPath: '/frozen', readOnly: true },
        ]
        const spec = {
          volumes,
          hostname: 'captain',
          hostAliases: [{ ip: '192.0.2.1', hostnames: ['lighthouse'] }],
          initContainers: [
            { name: 'first', image: 'busybox', volumeMounts, command: ['touch', '/scratch/made'] },
          ],
        }
        const command = ['sh', '-c', 'trap "exit 0" TERM; sleep 600 & wait']
        await succeeds(kubectl('apply', '-f', pod('ship', { image: 'busybox', command, volumeMounts }, spec)))
        await succeeds(kubectl('wait', '--for=condition=Ready', 'pod/ship', '--timeout=120s'))
        const exec = (script: string) =>
          succeeds(kubectl('exec', 'ship', '-c', 'main', '--', 'sh', '-c', script))
        assert.equal(
          await exec(
            `hostname; cat /etc/hostname /conf-${process.pid}/key; echo; ls /scratch; touch /frozen/x 2>/dev/null || echo frozen`,
          ),
          'captain\ncaptain\nvalue\nmade\nfrozen\n',
        )
        assert.match(await exec('getent hosts lighthouse'), /^192\.0\.2\.1 /)
        assert.match(await exec('cat /proc/1/cmdline | tr "\\0" " "'), /^sh -c trap/)
        assert.equal(existsSync(`/conf-${process.pid}`), false)
        assert.notEqual(hostname(), 'captain')
        await succeeds(kubectl('delete', 'pod', 'ship'))
      })

    if (isIsolated && mayListen)
      it('find services by name, through the resolver of the system and by DNS', async () => {
        const dns = `10.${network}.0.10`
        await until('get service kube-dns -n kube-system -o jsonpath={.spec.clusterIP}', dns)
        const headless = { kind: 'Service', apiVersion: 'v1', metadata: { name: 'crew' } }
        const selector = { app: 'crew' }
        const ports = [{ name: 'http', port: 80 }]
        await succeeds(
          kubectl(
            'apply',
            '-f',
            write('crew', { ...headless, spec: { clusterIP: 'None', selector, ports } }),
          ),
        )
        const sailor = {
          kind: 'Pod',
          apiVersion: 'v1',
          metadata: { name: 'sailor', labels: selector },
          spec: {
            hostname: 'bosun',
            subdomain: 'crew',
            terminationGracePeriodSeconds: 0,
            containers: [{ name: 'c', image: 'pause' }],
          },
        }
        await succeeds(kubectl('apply', '-f', write('sailor', sailor)))
        await succeeds(kubectl('wait', '--for=condition=Ready', 'pod/sailor', '--timeout=120s'))
        const script = `
          const { lookup, resolveSrv, resolve4 } = require('node:dns').promises
          const wait = async ask => {
            for (;;) try { return await ask() } catch { await new Promise(resolve => setTimeout(resolve, 100)) }
          }
          ;(async () => {
            console.log((await wait(() => lookup('kubernetes', 4))).address, (await wait(() => lookup('kube-dns.kube-system', 4))).address)
            const bosun = await wait(() => lookup('bosun.crew', 4))
            const [server] = await wait(() => resolveSrv('_http._tcp.crew.default.svc.cluster.local'))
            console.log(bosun.address === process.env.ADDRESS, server.name)
            await resolve4('none.default.svc.cluster.local').catch(error => console.log(error.code))
          })()`
        const env = [{ name: 'ADDRESS', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } }]
        assert.equal(
          await run('names', pod('names', { command: [process.execPath, '-e', script], env })),
          `127.${network}.0.1 127.${network}.0.10\ntrue bosun.crew.default.svc.cluster.local\nENOTFOUND\n`,
        )
      })
  })
