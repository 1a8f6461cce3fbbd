import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { ConfigMap, Namespace, Pod } from '@coxswain/api/core/v1'
import { readYamlDocuments } from '@coxswain/apimachinery/yaml'
import { type CreateOf, createClient } from 'coxswain'
import { startCluster, VirtualWorld } from 'coxswain/testing'
import operator, { annotation, configKey } from './operator.ts'

const key = { namespace: 'shop', name: 'web' }
const web = { name: 'web', image: 'nginx' }

async function launch() {
  const warnings: string[] = []
  const cluster = await startCluster({ env: new VirtualWorld({ seed: 1 }) })
  const { client, run, env } = cluster
  const onWarning = ({ text }: { readonly text: string }) => void warnings.push(text)
  const user = createClient({ env, transport: cluster.connect(), onWarning })
  const kinds = { Namespace, ConfigMap } as const
  for (const { value } of readYamlDocuments(readFileSync(new URL('./sample.yaml', import.meta.url)))) {
    const object = value as CreateOf<typeof ConfigMap> & { kind: keyof typeof kinds }
    await run(client.create(kinds[object.kind], object))
  }
  cluster.start(operator)
  await cluster.advance(5_000) // the server knows the webhook by now
  return {
    ...cluster,
    warnings,
    createPod: (namespace = 'shop', metadata = {}, spec: Pod['spec'] = { containers: [web] }) =>
      run(user.create(Pod, { metadata: { namespace, name: 'web', ...metadata }, spec })),
    configure: (config: string) =>
      run(client.patch(ConfigMap, configKey, { data: { config } }, { type: 'merge' })),
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  }
}

const namesOf = (list: readonly { name: string }[] | undefined) => list?.map(({ name }) => name)

describe('the sidecar injector', () => {
  it('adds the containers and volumes of the ConfigMap, and leaves what the Pod has', async () => {
    await using cluster = await launch()
    const { spec, metadata } = await cluster.createPod(
      'shop',
      {},
      {
        containers: [web],
        volumes: [{ name: 'mine', emptyDir: {} }],
      },
    )
    assert.deepEqual(namesOf(spec?.containers)?.toSorted(), ['envoy', 'web'])
    assert.ok(namesOf(spec?.volumes)?.includes('mine'))
    assert.ok(namesOf(spec?.volumes)?.includes('envoy-conf'))
    assert.equal(spec?.containers.find(({ name }) => name === 'web')?.image, 'nginx')
    assert.ok(metadata.annotations?.[annotation])
  })

  it('does so in labelled namespaces only', async () => {
    await using cluster = await launch()
    const { spec, metadata } = await cluster.createPod('default')
    assert.deepEqual(namesOf(spec?.containers), ['web'])
    assert.equal(metadata.annotations?.[annotation], undefined)
  })

  it('does so once: a Pod that has been through it is left alone', async () => {
    await using cluster = await launch()
    const { spec } = await cluster.createPod('shop', { annotations: { [annotation]: 'yes' } })
    assert.deepEqual(namesOf(spec?.containers), ['web'])
  })

  it('takes the ConfigMap as it is when the Pod comes', async () => {
    await using cluster = await launch()
    await cluster.configure('containers: [{ name: logger, image: busybox }]')
    await cluster.settle()
    const { spec } = await cluster.createPod()
    assert.deepEqual(namesOf(spec?.containers)?.toSorted(), ['logger', 'web'])
  })

  it('refuses Pods while the ConfigMap cannot be read, and says why', async () => {
    await using cluster = await launch()
    const { client, run } = cluster
    for (const [config, problem] of [
      ['{', /is not YAML/],
      ['hostNetwork: true', /has hostNetwork, which is nothing to add/],
      ['[]', /has no containers/],
    ] as const) {
      await cluster.configure(config)
      await cluster.settle()
      await assert.rejects(cluster.createPod(), { message: problem })
    }
    assert.equal(await run(client.get(Pod, key)), undefined)
  })

  it('lets Pods pass as they are when there is no ConfigMap', async () => {
    await using cluster = await launch()
    const { client, run } = cluster
    await run(client.delete(ConfigMap, configKey))
    await cluster.settle()
    const { spec } = await cluster.createPod()
    assert.deepEqual(namesOf(spec?.containers), ['web'])
    assert.deepEqual(cluster.warnings, ['no sidecar was added: there is no ConfigMap sidecar/sidecar'])
  })
})
