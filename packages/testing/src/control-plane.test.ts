import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Deployment, StatefulSet } from '@coxswain/api/apps/v1'
import { Job } from '@coxswain/api/batch/v1'
import { ConfigMap, Namespace, Node, PersistentVolumeClaim, Pod, ServiceAccount } from '@coxswain/api/core/v1'
import { isForbidden, isNotFound } from '@coxswain/apimachinery/status'
import { attach, execute, forwardPort, readLog } from '@coxswain/client'
import { decodeText, encodeText, VirtualWorld } from '@coxswain/kit'
import { defineOperator } from '@coxswain/runtime'
import { startCluster } from './cluster.ts'

const namespace = 'default'
const key = { namespace, name: 'web' }
const labels = { app: 'web' }
const podOf = (image: string) => ({ metadata: key, spec: { containers: [{ name: 'main', image }] } })
const deploymentOf = (replicas: number, image = 'nginx') => ({
  metadata: key,
  spec: {
    replicas,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'main', image }] } },
  },
})

describe('a cluster that is ready', () => {
  it('has what a Pod in default needs: it is created at once', async () => {
    for (const options of [{}, { nodes: 1 }, { controllers: '*' as const }]) {
      await using cluster = await startCluster(options)
      await cluster.client.create(Pod, podOf('nginx'))
      assert.ok(await cluster.client.get(ServiceAccount, { namespace, name: 'default' }))
    }
  })

  it('has nodes that are ready, and with all controllers the CA that Pods mount', async () => {
    await using cluster = await startCluster({ env: new VirtualWorld(), nodes: 3 })
    const { items } = await cluster.run(cluster.client.list(Node))
    assert.deepEqual(
      items.map(
        ({ metadata, status }) =>
          `${metadata.name} ${status?.conditions?.find(({ type }) => type === 'Ready')?.status}`,
      ),
      ['node-1 True', 'node-2 True', 'node-3 True'],
    )
    const name = 'kube-root-ca.crt'
    const ca = await cluster.run(cluster.client.get(ConfigMap, { namespace, name }))
    assert.match(ca?.data?.['ca.crt'] ?? '', /^-----BEGIN CERTIFICATE-----/)
  })
})

describe('a cluster of generic kinds', () => {
  it('has no Pods, and collects garbage and deletes namespaces', async () => {
    await using cluster = await startCluster({ env: new VirtualWorld(), kinds: 'generic' })
    await cluster.run(cluster.client.create(Namespace, { metadata: { name: 'old' } }))
    await cluster.run(assert.rejects(cluster.client.list(Pod, { namespace }), isNotFound))
    const metadata = { namespace: 'old', name: 'owner' }
    const { metadata: made } = await cluster.run(cluster.client.create(ConfigMap, { metadata }))
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: made.uid }
    const owned = { namespace: 'old', name: 'owned' }
    await cluster.run(cluster.client.create(ConfigMap, { metadata: { ...owned, ownerReferences: [owner] } }))
    await cluster.run(cluster.client.delete(ConfigMap, metadata))
    await cluster.expect(ConfigMap, owned).eventually().toBeMissing()
    await cluster.run(cluster.client.delete(Namespace, { name: 'old' }))
    await cluster.expect(Namespace, { name: 'old' }).eventually().toBeMissing()
  })

  it('has no nodes, and no controllers that need other kinds', async () => {
    await assert.rejects(startCluster({ kinds: 'generic', nodes: 1 }), /nodes run Pods/)
    await assert.rejects(
      startCluster({ kinds: 'generic', controllers: ['job'] }),
      /job-controller needs jobs/,
    )
    await assert.rejects(startCluster({ kinds: ['generic', 'pizzas'] }), /unknown kind "pizzas"/)
    await using cluster = await startCluster({ kinds: 'generic', controllers: '*' })
    assert.ok(await cluster.client.get(ServiceAccount, { namespace, name: 'default' }))
  })
})

describe('the whole control plane in the process of the test', () => {
  it('runs the Pods of a Deployment, on the virtual clock, the same from the same seed', async () => {
    const play = async () => {
      const world = new VirtualWorld({ seed: 5 })
      await using cluster = await startCluster({ env: world, controllers: '*', scheduler: true, nodes: 3 })
      await cluster.run(cluster.client.create(Deployment, deploymentOf(3)))
      await cluster
        .expect(Deployment, key)
        .eventually()
        .toHave({ status: { availableReplicas: 3 } })
      const { items } = await cluster.run(cluster.client.list(Pod, { namespace }))
      return items.map(({ metadata, spec, status }) => `${metadata.name} ${spec.nodeName} ${status?.podIP}`)
    }
    const pods = await play()
    assert.equal(pods.length, 3)
    assert.deepEqual(pods, await play())
  })

  it('is what nodes bring along unless controllers are chosen', async () => {
    await using cluster = await startCluster({ nodes: 1 })
    await cluster.client.create(Deployment, deploymentOf(1))
    await cluster
      .expect(Deployment, key)
      .eventually()
      .toHave({ status: { readyReplicas: 1 } })
  })

  it('binds the claims of a StatefulSet and runs Jobs to their end', async () => {
    await using cluster = await startCluster({ env: new VirtualWorld({ seed: 2 }), nodes: 2 })
    const { template, selector } = deploymentOf(1).spec
    await cluster.apply([
      {
        apiVersion: 'apps/v1',
        kind: 'StatefulSet',
        metadata: key,
        spec: {
          serviceName: 'web',
          selector,
          template: {
            ...template,
            spec: {
              containers: [
                { name: 'main', image: 'db', volumeMounts: [{ name: 'data', mountPath: '/data' }] },
              ],
            },
          },
          volumeClaimTemplates: [
            {
              metadata: { name: 'data' },
              spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
            },
          ],
        },
      } as never,
    ])
    await cluster
      .expect(StatefulSet, key)
      .eventually()
      .toHave({ status: { readyReplicas: 1 } })
    await cluster
      .expect(PersistentVolumeClaim, { namespace, name: 'data-web-0' })
      .toHave({ status: { phase: 'Bound' } })
    const containers = [{ name: 'main', image: 'busybox', command: ['sh', '-c', 'exit 0'] }]
    await cluster.run(
      cluster.client.create(Job, {
        metadata: key,
        spec: { template: { spec: { restartPolicy: 'Never', containers } } },
      }),
    )
    await cluster
      .expect(Job, key)
      .eventually({ within: 60_000 })
      .toHave({ status: { conditions: [{ type: 'Complete', status: 'True' }] } })
  })

  it('runs the controllers that are named, as --controllers selects them', async () => {
    const env = new VirtualWorld()
    await using cluster = await startCluster({ env, controllers: ['serviceaccount', 'replicaset'], nodes: 1 })
    await cluster.run(cluster.client.create(Deployment, deploymentOf(1)))
    await cluster.advance(10_000)
    await cluster.expect(Deployment, key).toHave({ status: { replicas: undefined } })
    await assert.rejects(
      startCluster({ controllers: ['nothing'] }),
      /unknown controller "nothing"; known controllers: bootstrap/,
    )
  })

  it('schedules only where a scheduler runs', async () => {
    await using cluster = await startCluster({ env: new VirtualWorld(), nodes: 1, scheduler: false })
    await cluster.run(cluster.client.create(Pod, podOf('nginx')))
    await cluster
      .expect(Pod, key)
      .consistently({ during: 10_000 })
      .toHave({ spec: { nodeName: undefined } })
  })

  it('leaves nothing behind', async () => {
    const world = new VirtualWorld({ seed: 8 })
    {
      await using cluster = await startCluster({ env: world, nodes: 2 })
      await cluster.run(cluster.client.create(Deployment, deploymentOf(2)))
      await cluster.advance(3_000)
    }
    assert.equal(world.nextTimer, undefined)
  })
})

describe('an image that is a function', () => {
  const images = {
    greeter: async ({ print, env, listen, onExec, signal }) => {
      print(`hello ${env.get('NAME')}`)
      listen(80, async connection => {
        await connection.write(encodeText('welcome'))
        connection.end()
      })
      onExec(async (command, { stdout, stdin }) => {
        for await (const chunk of stdin ?? []) await stdout(chunk)
        await stdout(encodeText(command.join(' ')))
        return 7
      })
      await new Promise<void>(resolve => signal.addEventListener('abort', () => resolve()))
    },
  } satisfies NonNullable<Parameters<typeof startCluster>[0]>['images']
  const env = [{ name: 'NAME', value: 'world' }]
  const greeter = { metadata: key, spec: { containers: [{ name: 'main', image: 'greeter', env }] } }

  for (const [clock, make] of [
    ['a virtual clock', () => ({ env: new VirtualWorld({ seed: 4 }) })],
    ['the real clock', () => ({})],
  ] as const)
    it(`runs as a container with logs, exec and ports through the API, on ${clock}`, async () => {
      await using cluster = await startCluster({ ...make(), nodes: 1, images })
      const { client, run } = cluster
      await run(client.create(Pod, greeter))
      await cluster
        .expect(Pod, key)
        .eventually()
        .toHave({ status: { phase: 'Running', podIP: /^10\./ } })
      assert.deepEqual(await run(Array.fromAsync(readLog(client, key))), ['hello world'])
      const output = await run(execute(client, key, { command: ['say', 'it'], input: 'first ' }))
      assert.deepEqual(output, { exitCode: 7, stdout: 'first say it', stderr: '' })
      const port = await run(forwardPort(client, key, 80))
      assert.equal((await run(Array.fromAsync(port.data))).map(decodeText).join(''), 'welcome')
      const joined = await run(attach(client, key))
      await run((async () => await joined[Symbol.asyncDispose]())())
      const jane = cluster.as('jane')
      await assert.rejects(run(execute(jane, key, { command: ['id'] })), isForbidden)
    })

  it('runs beside images that are simulated, whose probes and hooks succeed', async () => {
    await using cluster = await startCluster({ env: new VirtualWorld(), nodes: 1, images })
    const other = {
      name: 'other',
      image: 'nginx',
      readinessProbe: { exec: { command: ['true'] }, initialDelaySeconds: 2 },
      lifecycle: { postStart: { exec: { command: ['true'] } } },
    }
    const pod = { metadata: key, spec: { containers: [...greeter.spec.containers, other] } }
    await cluster.run(cluster.client.create(Pod, pod))
    await cluster
      .expect(Pod, key)
      .eventually()
      .toHave({ status: { conditions: [{ type: 'Ready', status: 'True' }] } })
    const lines = await cluster.run(Array.fromAsync(readLog(cluster.client, key, { container: 'other' })))
    assert.match(lines.join('\n'), /image nginx runs; nothing is executed/)
  })

  it('needs a node', async () => {
    await assert.rejects(startCluster({ images }), /start the cluster with nodes/)
  })
})

describe('an operator in the whole control plane', () => {
  it('sees the Pods of the Deployments that it makes', async () => {
    const operator = defineOperator('deployer', builder => {
      builder
        .controller('deploy')
        .for(ConfigMap)
        .reconcile(async ({ key: { namespace: of, name }, client }) => {
          if (name !== 'a') return
          const target = { namespace: of!, name: 'web' }
          if (!(await client.get(Deployment, target))) await client.create(Deployment, deploymentOf(2))
        })
    })
    await using cluster = await startCluster({ env: new VirtualWorld(), nodes: 1 })
    cluster.start(operator)
    await cluster.run(cluster.client.create(ConfigMap, { metadata: { namespace, name: 'a' } }))
    await cluster
      .expect(Deployment, key)
      .eventually()
      .toHave({ status: { readyReplicas: 2 } })
  })
})
