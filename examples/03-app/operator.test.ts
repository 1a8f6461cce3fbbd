import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { Deployment } from '@coxswain/api/apps/v1'
import { Service } from '@coxswain/api/core/v1'
import { Ingress } from '@coxswain/api/networking/v1'
import { readYaml } from '@coxswain/apimachinery/yaml'
import { toCustomResourceDefinition } from 'coxswain'
import { startCluster, VirtualWorld } from 'coxswain/testing'
import operator, { App } from './operator.ts'

const key = { namespace: 'default', name: 'web' }
/** What the defaulting webhook makes `enable_ingress: true` of. */
const spec = { image: 'nginx', replicas: 2, enable_service: true, enable_ingress: false }

async function launch(onStep?: (line: string) => void) {
  const env = new VirtualWorld({ seed: 1, onStep: ({ time, label }) => onStep?.(`${time} ${label}`) })
  const cluster = await startCluster({ env })
  const { client, run } = cluster
  await cluster.install(operator)
  const stop = cluster.start(operator)
  await cluster.advance(5_000) // the server knows the webhooks by now
  return {
    ...cluster,
    stop,
    create: (given: Partial<typeof spec> = {}, options = {}) =>
      run(client.create(App.v1beta1, { metadata: key, spec: { ...spec, ...given } }, options)),
    update: async (given: Partial<typeof spec>) => {
      const app = await run(client.get(App.v1beta1, key))
      assert.ok(app)
      return run(client.update(App.v1beta1, { ...app, spec: { ...app.spec, ...given } }))
    },
    /** Which of what it makes are there. */
    async made() {
      const found: string[] = []
      for (const kind of [Deployment, Service, Ingress]) {
        if (await run(client.get(kind, key))) found.push(kind.kind)
      }
      return found.join(' ')
    },
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  }
}

describe('the app operator', () => {
  it('makes a Deployment, a Service and an Ingress, which go with the App', async () => {
    await using cluster = await launch()
    const { client, run, advance } = cluster
    await cluster.create()
    await advance(1_000)
    assert.equal(await cluster.made(), 'Deployment Service Ingress')
    const deployment = await run(client.get(Deployment, key))
    assert.equal(deployment?.spec?.replicas, 2)
    assert.equal(deployment.spec.template.spec?.containers[0]?.image, 'nginx')
    const ingress = await run(client.get(Ingress, key))
    assert.equal(ingress?.spec?.rules?.[0]?.http?.paths[0]?.backend.service?.name, 'web')

    await run(client.delete(App.v1beta1, key))
    await advance(10_000)
    assert.equal(await cluster.made(), '')
  })

  it('follows changes, and puts right what others change', async () => {
    await using cluster = await launch()
    const { client, run, advance } = cluster
    await cluster.create()
    await advance(1_000)
    await run(client.patch(Deployment, key, { spec: { replicas: 7 } }, { type: 'merge' }))
    await run(client.delete(Service, key))
    await advance(1_000)
    assert.equal((await run(client.get(Deployment, key)))?.spec?.replicas, 2)
    assert.equal(await cluster.made(), 'Deployment Service Ingress')

    await cluster.update({ replicas: 3, enable_ingress: true }) // flipped: no longer wanted
    await advance(1_000)
    assert.equal(await cluster.made(), 'Deployment Service')
    assert.equal((await run(client.get(Deployment, key)))?.spec?.replicas, 3)
    await cluster.update({ enable_service: false, enable_ingress: true })
    await advance(1_000)
    assert.equal(await cluster.made(), 'Deployment')
  })

  it('leaves alone what has its name and is not its own', async () => {
    await using cluster = await launch()
    const { client, run, advance } = cluster
    await run(client.create(Service, { metadata: key, spec: { ports: [{ port: 1 }] } }))
    await cluster.create({ enable_service: false, enable_ingress: true })
    await advance(1_000)
    assert.equal(await cluster.made(), 'Deployment Service')
  })

  it('shows how many replicas are available', async () => {
    await using cluster = await launch()
    const { client, run, advance } = cluster
    await cluster.create()
    await advance(1_000)
    const deployment = await run(client.get(Deployment, key))
    assert.ok(deployment)
    const counts = { replicas: 2, readyReplicas: 2, availableReplicas: 2 }
    await run(client.updateStatus(Deployment, { ...deployment, status: counts }))
    await advance(1_000)
    assert.equal((await run(client.get(App.v1beta1, key)))?.status?.availableReplicas, 2)
  })
})

describe('its webhooks', () => {
  it('flip enable_ingress of what comes in', async () => {
    await using cluster = await launch()
    const app = await cluster.create()
    assert.equal(app.spec.enable_ingress, true)
    const updated = await cluster.update({ enable_ingress: true })
    assert.equal(updated.spec.enable_ingress, false)
  })

  it('refuse an Ingress without a Service, and say which field is wrong', async () => {
    await using cluster = await launch()
    await assert.rejects(cluster.create({ enable_service: false }), error => {
      const { code, reason, message } = error as { code: number; reason: string; message: string }
      assert.deepEqual([code, reason], [422, 'Invalid'])
      assert.match(message, /spec\.enable_service: Invalid value: false: must be true when enable_ingress is/)
      return true
    })
    await cluster.create({ enable_service: false, enable_ingress: true })
  })

  it('are asked in a dry run, too, and nothing is stored', async () => {
    await using cluster = await launch()
    const { client, run } = cluster
    const app = await cluster.create({}, { dryRun: true })
    assert.equal(app.spec.enable_ingress, true)
    assert.equal(await run(client.get(App.v1beta1, key)), undefined)
    await assert.rejects(cluster.create({ enable_service: false }, { dryRun: true }), { code: 422 })
  })

  it('convert between the versions', async () => {
    await using cluster = await launch()
    const { client, run } = cluster
    await cluster.create()
    const app = await run(client.get(App.v1, key))
    assert.deepEqual(app?.spec, { image: 'nginx', replicas: 2, expose: { service: true, ingress: true } })
    const { items } = await run(client.list(App.v1, { namespace: 'default' }))
    assert.deepEqual(items[0]?.spec, app.spec)
  })

  it('know objects of the other version as well', async () => {
    await using cluster = await launch()
    const { client, run } = cluster
    const bad = { image: 'nginx', expose: { service: false, ingress: false } }
    await assert.rejects(run(client.create(App.v1, { metadata: key, spec: bad })), { code: 422 })
    const good = { image: 'nginx', expose: { service: true, ingress: false } }
    const app = await run(client.create(App.v1, { metadata: key, spec: good }))
    assert.deepEqual(app.spec.expose, { service: true, ingress: true })
  })
})

describe('an operator with webhooks', () => {
  it('is missed while it is away, and found again when it is back', async () => {
    await using cluster = await launch()
    await cluster.stop()
    await assert.rejects(cluster.create(), {
      code: 500,
      message: /failed calling webhook "default\.app-v1beta1/,
    })
    cluster.start(operator)
    await cluster.advance(5_000)
    assert.equal((await cluster.create()).spec.enable_ingress, true)
  })

  it('does the same in the same order for the same seed', async () => {
    const sail = async () => {
      const log: string[] = []
      await using cluster = await launch(line => log.push(line))
      await cluster.create()
      await cluster.advance(1_000)
      return log
    }
    const first = await sail()
    assert.ok(first.length > 100)
    assert.deepEqual(await sail(), first)
  })
})

describe('what is shipped', () => {
  it('is the definition that the kind gives', () => {
    const shipped = readYaml(readFileSync(new URL('./crd.yaml', import.meta.url)))
    assert.deepEqual(shipped?.value, JSON.parse(JSON.stringify(toCustomResourceDefinition(App))))
  })
})
