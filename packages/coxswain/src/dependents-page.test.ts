import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, it } from 'node:test'
import { Deployment } from '@coxswain/api/apps/v1'
import { ConfigMap, Service } from '@coxswain/api/core/v1'
import { findStatusCondition } from 'coxswain'
import { startCluster, VirtualWorld } from 'coxswain/testing'
import operator, { Site } from './test-support/site-operator.ts'

const key = { namespace: 'default', name: 'blog' }

describe('docs/dependents.md', () => {
  it('shows the operator that is compiled and tested here', async () => {
    const page = await readFile(new URL('../../../docs/dependents.md', import.meta.url), 'utf8')
    const source = await readFile(new URL('./test-support/site-operator.ts', import.meta.url), 'utf8')
    assert.ok(page.includes(`\`\`\`ts\n${source}\`\`\``), 'copy test-support/site-operator.ts into the page')
  })

  it('has an operator that does what the page says', async () => {
    await using cluster = await startCluster({ env: new VirtualWorld({ seed: 5 }) })
    const { client } = cluster
    await cluster.install(operator)
    cluster.start(operator)
    await cluster.run(client.create(Site.v1, { metadata: key, spec: { page: 'Ahoy' } }))
    await cluster.advance(5_000)
    const page = await cluster.run(client.get(ConfigMap, { namespace: 'default', name: 'blog-page' }))
    assert.deepEqual(page?.data, { 'index.html': 'Ahoy' })
    assert.equal(await cluster.run(client.get(Service, key)), undefined, 'the server is not ready')
    const status = { status: { replicas: 1, readyReplicas: 1 } }
    await cluster.run(client.patch(Deployment, key, status, { subresource: 'status' }))
    await cluster.advance(1_000)
    assert.ok(await cluster.run(client.get(Service, key)))
    const site = await cluster.run(client.get(Site.v1, key))
    assert.equal(findStatusCondition(site?.status?.conditions, 'Ready')?.status, 'True')
    await cluster.run(client.patch(Site.v1, key, { spec: { public: false } }))
    await cluster.advance(1_000)
    assert.equal(await cluster.run(client.get(Service, key)), undefined)
  })
})
