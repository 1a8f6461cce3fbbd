import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Service } from '@coxswain/api/core/v1'
import { Ingress } from '@coxswain/api/networking/v1'
import { startCluster, VirtualWorld } from 'coxswain/testing'
import operator, { annotation } from './operator.ts'

const key = { namespace: 'default', name: 'web' }

async function launch() {
  const cluster = await startCluster({ env: new VirtualWorld({ seed: 1 }) })
  cluster.start(operator)
  const { client, run } = cluster
  await cluster.settle()
  return {
    ...cluster,
    createService: (annotations = {}) =>
      run(client.create(Service, { metadata: { ...key, annotations }, spec: { ports: [{ port: 80 }] } })),
    annotate: (value: string | null) =>
      run(
        client.patch(Service, key, { metadata: { annotations: { [annotation]: value } } }, { type: 'merge' }),
      ),
    async rule() {
      const rule = (await run(client.get(Ingress, key)))?.spec?.rules?.[0]
      const { service } = rule?.http?.paths[0]?.backend ?? {}
      return rule && `${rule.host} -> ${service?.name}:${service?.port?.number}`
    },
  }
}

describe('the ingress manager', () => {
  it('keeps an Ingress for a Service that asks for one, and for no other', async () => {
    await using cluster = await launch()
    await cluster.createService()
    await cluster.settle()
    assert.equal(await cluster.rule(), undefined)
    await cluster.annotate('web.example.com')
    await cluster.settle()
    assert.equal(await cluster.rule(), 'web.example.com -> web:80')
    await cluster.annotate(null)
    await cluster.settle()
    assert.equal(await cluster.rule(), undefined)
  })

  it('follows the Service, and puts right what others change', async () => {
    await using cluster = await launch()
    const { client, run } = cluster
    await cluster.createService({ [annotation]: '' })
    await cluster.settle()
    assert.equal(await cluster.rule(), 'web.example.com -> web:80')
    await run(client.patch(Service, key, { spec: { ports: [{ port: 8080 }] } }, { type: 'merge' }))
    await cluster.annotate('shop.example.com')
    await cluster.settle()
    assert.equal(await cluster.rule(), 'shop.example.com -> web:8080')
    await run(
      client.patch(Ingress, key, { spec: { rules: [{ host: 'evil.example.com' }] } }, { type: 'merge' }),
    )
    await cluster.settle()
    assert.equal(await cluster.rule(), 'shop.example.com -> web:8080')
    await run(client.delete(Ingress, key))
    await cluster.settle()
    assert.equal(await cluster.rule(), 'shop.example.com -> web:8080', 'it is made again')
  })

  it('leaves the Ingress to garbage collection when the Service goes', async () => {
    await using cluster = await launch()
    const { client, run, advance } = cluster
    await cluster.createService({ [annotation]: '' })
    await cluster.settle()
    await run(client.delete(Service, key))
    await advance(10_000)
    assert.equal(await cluster.rule(), undefined)
  })

  it('does not touch an Ingress that it does not own', async () => {
    await using cluster = await launch()
    const { client, run } = cluster
    const defaultBackend = { service: { name: 'other', port: { number: 1 } } }
    await run(client.create(Ingress, { metadata: key, spec: { defaultBackend } }))
    await cluster.createService({ [annotation]: '' })
    await cluster.settle()
    await cluster.annotate(null)
    await cluster.settle()
    assert.deepEqual((await run(client.get(Ingress, key)))?.spec?.defaultBackend, defaultBackend)
  })
})
