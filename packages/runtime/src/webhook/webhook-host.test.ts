import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { newServiceUnavailable } from '@coxswain/apimachinery/status'
import { createInProcessTransport, type Handler } from '@coxswain/wire'
import { Manager } from '../manager.ts'
import { defineOperator } from '../operator.ts'
import { Simulation, widgetKind } from '../test-support/simulation.ts'
import type { CertificateMaker, Validity, WebhookKeyPair } from './certificates.ts'
import type { CrdObject, WebhookConfiguration } from './kinds.ts'
import type { WebhookListener, WebhookOptions } from './webhook-host.ts'

const operator = defineOperator('widgets', builder => {
  builder
    .webhook(widgetKind)
    .default(() => {}, { operations: ['CREATE'], reinvocationPolicy: 'IfNeeded' })
    .validate(() => {}, { failurePolicy: 'Ignore', namespaceSelector: { matchLabels: { strict: 'yes' } } })
    .convert({ ...widgetKind, version: 'v2' } as typeof widgetKind, {
      to: object => object,
      from: object => object,
    })
})

const configurationPath = (kind: string) =>
  `/apis/admissionregistration.k8s.io/v1/${kind}webhookconfigurations/widgets`
const definitionPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com'
const service = { namespace: 'default', name: 'hooks' }

/** Certificates that are valid for 90 minutes, and CAs for 365; the text says when one was created, in minutes. */
function createToyMaker(start: number): CertificateMaker {
  const pair = (kind: string, notBefore: number, minutes: number): WebhookKeyPair => ({
    certificate: `${kind} ${Math.floor((notBefore - start) / 60_000)} ${notBefore} ${notBefore + minutes * 60_000}\n`,
    key: 'key',
  })
  const now = ({ notBefore }: Validity) => notBefore + 3_600_000
  return {
    createCa: (_, validity) => pair('ca', now(validity), 365),
    createServer: (_, validity) => pair('server', now(validity), 90),
    read: ({ certificate }) => {
      const [, , notBefore, notAfter] = certificate.split(' ').map(Number)
      return { notBefore: notBefore!, notAfter: notAfter!, hosts: ['hooks.default.svc'] }
    },
    isSignedBy: () => true,
  }
}

function launch(options: Partial<WebhookOptions> = {}) {
  const sim = new Simulation()
  const pairs: (WebhookKeyPair | undefined)[] = []
  let handler: Handler | undefined
  let serving: AbortSignal | undefined
  const listener: WebhookListener = {
    hosts: ['hooks.default.svc'],
    listen: async (given, signal, pair) => {
      handler = given
      serving = signal
      pairs.push(pair)
      return { service }
    },
    setKeyPair: pair => void pairs.push(pair),
  }
  const certificates = createToyMaker(sim.world.clock.now())
  const start = () => sim.start(operator, { webhooks: { listener, certificates, ...options } })
  const configuration = (kind: string) => sim.server.object<WebhookConfiguration>(configurationPath(kind))
  const bundleOf = (kind: string) => {
    const bundle = configuration(kind)?.webhooks?.[0]?.clientConfig.caBundle
    return bundle && atob(bundle).split(' ').slice(0, 2).join(' ')
  }
  const putDefinition = (annotations = {}) =>
    sim.server.put(definitionPath, {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'widgets.example.com', annotations },
      spec: { group: 'example.com', conversion: { strategy: 'None' } },
    })
  return {
    sim,
    start,
    pairs,
    configuration,
    bundleOf,
    putDefinition,
    handler: () => handler,
    serving: () => serving,
  }
}

describe('the host of webhooks', () => {
  it('writes their configurations, with the CA bundle', async () => {
    const world = launch()
    await using sim = world.sim
    world.putDefinition()
    const { manager } = world.start()
    await sim.world.advance(1_000)
    assert.equal(world.handler(), manager.webhookHandler)
    const [mutating] = world.configuration('mutating')!.webhooks!
    assert.deepEqual(
      { ...mutating, clientConfig: { ...mutating!.clientConfig, caBundle: '' } },
      {
        name: 'default.widget-v1.example.com',
        admissionReviewVersions: ['v1'],
        clientConfig: {
          service: { ...service, path: '/mutate-example-com-v1-widget', port: 443 },
          caBundle: '',
        },
        rules: [
          {
            apiGroups: ['example.com'],
            apiVersions: ['v1'],
            operations: ['CREATE'],
            resources: ['widgets'],
            scope: 'Namespaced',
          },
        ],
        failurePolicy: 'Fail',
        matchPolicy: 'Equivalent',
        namespaceSelector: {},
        objectSelector: {},
        sideEffects: 'None',
        timeoutSeconds: 10,
        reinvocationPolicy: 'IfNeeded',
      },
    )
    const [validating] = world.configuration('validating')!.webhooks!
    assert.equal(validating!.failurePolicy, 'Ignore')
    assert.deepEqual(validating!.namespaceSelector, { matchLabels: { strict: 'yes' } })
    assert.equal(world.bundleOf('validating'), 'ca 0')
    const { spec } = sim.server.object<{ spec: { conversion: { webhook: { clientConfig: object } } } }>(
      definitionPath,
    )!
    assert.deepEqual(spec.conversion, {
      strategy: 'Webhook',
      webhook: {
        conversionReviewVersions: ['v1'],
        clientConfig: {
          service: { ...service, path: '/convert', port: 443 },
          caBundle: validating!.clientConfig.caBundle,
        },
      },
    })
    assert.equal((await manager.checkReady()).ok, true)
  })

  it('writes nothing when nothing has changed, and reverts changes of others', async () => {
    const world = launch({ secret: { namespace: 'default', name: 'hooks' } })
    await using sim = world.sim
    world.putDefinition()
    world.start()
    await sim.world.advance(1_000)
    const writes = sim.server.writes().length
    await sim.world.advance(3_600_000)
    assert.equal(sim.server.writes().length, writes)
    const existing = world.configuration('validating')!
    sim.server.put(configurationPath('validating'), {
      ...existing,
      kind: 'ValidatingWebhookConfiguration',
      webhooks: [],
    })
    await sim.world.advance(61_000)
    assert.equal(world.configuration('validating')?.webhooks?.length, 1)
  })

  it('renews the certificate and the CA in time', async () => {
    const world = launch()
    await using sim = world.sim
    world.putDefinition()
    world.start()
    await sim.world.advance(1_000)
    assert.equal(world.pairs.length, 1)
    await sim.world.advance(62 * 60_000)
    assert.equal(world.pairs.length, 2)
    assert.match(world.pairs[1]!.certificate, /^server 6[01] /)
    assert.equal(world.bundleOf('mutating'), 'ca 0')
    await sim.world.advance(185 * 60_000)
    assert.match(world.bundleOf('mutating')!, /^ca 24[0-9]$/)
  })

  it('leaves caBundle to cert-manager where its annotations are present', async () => {
    const world = launch()
    await using sim = world.sim
    const annotations = { 'cert-manager.io/inject-ca-from': 'default/hooks' }
    world.putDefinition(annotations)
    sim.server.put(configurationPath('validating'), {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'widgets', annotations, labels: { 'app.kubernetes.io/managed-by': 'coxswain' } },
      webhooks: [{ name: 'validate.widget-v1.example.com', clientConfig: { caBundle: 'dGhlaXJz' } }],
    })
    world.start()
    await sim.world.advance(1_000)
    const [webhook] = world.configuration('validating')!.webhooks!
    assert.equal(webhook!.clientConfig.caBundle, 'dGhlaXJz')
    assert.equal(webhook!.clientConfig.service?.name, 'hooks')
    assert.equal(world.bundleOf('mutating'), 'ca 0', 'without an annotation it is ours')
    const { spec } = sim.server.object<{ spec: { conversion: { webhook: { clientConfig: object } } } }>(
      definitionPath,
    )!
    assert.deepEqual(Object.keys(spec.conversion.webhook.clientConfig), ['service'])
  })

  it('injects only the caBundle into configurations of others, and creates none without install', async () => {
    const world = launch({ install: false, removeOnStop: true })
    await using sim = world.sim
    world.putDefinition()
    const theirs = { name: 'their.own.name', failurePolicy: 'Ignore' }
    const path = '/validate-example-com-v1-widget'
    const other = { name: 'some.other.webhook', clientConfig: { url: 'https://elsewhere/hook' } }
    sim.server.put(configurationPath('validating'), {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'widgets' },
      webhooks: [{ ...theirs, clientConfig: { service: { ...service, path } } }, other],
    })
    const { stop, stopped } = world.start()
    await sim.world.advance(1_000)
    const [webhook, untouched] = world.configuration('validating')!.webhooks!
    assert.equal(world.bundleOf('validating'), 'ca 0')
    assert.deepEqual({ ...webhook, clientConfig: 0 }, { ...theirs, clientConfig: 0 })
    assert.deepEqual(untouched, other)
    assert.equal(world.configuration('mutating'), undefined)
    stop()
    await sim.world.run(stopped)
    assert.ok(world.configuration('validating'), 'it is not ours to remove')
    const definition = sim.server.object<{ spec: { conversion: object } }>(definitionPath)!
    assert.deepEqual(definition.spec.conversion, { strategy: 'None' })
  })

  it('waits for CRDs that are created later, and for an unreachable server', async () => {
    const world = launch()
    await using sim = world.sim
    sim.server.intercept = () => newServiceUnavailable('not yet')
    const { manager } = world.start()
    await sim.world.advance(10_000)
    sim.server.intercept = undefined
    await sim.world.advance(60_000)
    assert.ok(world.configuration('mutating'))
    assert.equal((await manager.checkReady()).ok, false)
    world.putDefinition()
    await sim.world.advance(60_000)
    assert.equal((await manager.checkReady()).ok, true)
  })

  it('removes the configurations when it stops, with removeOnStop', async () => {
    const world = launch({ removeOnStop: true })
    await using sim = world.sim
    const { stop, stopped } = world.start()
    await sim.world.advance(1_000)
    assert.ok(world.configuration('mutating'))
    let leftWhenClosed: unknown
    world.serving()!.addEventListener('abort', () => {
      leftWhenClosed = world.configuration('validating') ?? 'nothing'
    })
    stop()
    await sim.world.run(stopped)
    assert.equal(leftWhenClosed, 'nothing', 'it serves until the configurations are removed')
    assert.equal(world.configuration('mutating'), undefined)
    assert.equal(world.configuration('validating'), undefined)
  })

  it('stops in time while a write of the configurations hangs', async () => {
    const world = launch({ removeOnStop: true })
    await using sim = world.sim
    sim.server.intercept = call =>
      call.method === 'POST' && call.path.includes('webhookconfigurations')
        ? new Promise(() => {})
        : undefined
    const { stop, stopped } = world.start()
    await sim.world.advance(1_000)
    const before = sim.world.clock.now()
    stop()
    await sim.world.run(stopped)
    assert.equal(sim.world.clock.now() - before, 0)
  })

  it('stops in time while the removal of the configurations hangs, and says what is left', async () => {
    const world = launch({ removeOnStop: true })
    await using sim = world.sim
    const { stop, stopped } = world.start()
    await sim.world.advance(1_000)
    sim.server.intercept = () => new Promise(() => {})
    const before = sim.world.clock.now()
    stop()
    await sim.world.run(stopped)
    assert.ok(sim.world.clock.now() - before <= 5_000)
    assert.ok(sim.warnings().includes('webhook configurations were left behind'))
  })

  describe('with replicas that each have an address', () => {
    /** Two processes of one operator beside one server; those in `serving` answer. */
    function launchTwo() {
      const sim = new Simulation()
      const serving = new Set<string>()
      const start = (url: string) => {
        const listener: WebhookListener = {
          hosts: [],
          listen: async (_, signal) => {
            serving.add(url)
            signal.addEventListener('abort', () => serving.delete(url))
            return { url }
          },
          answers: async replica => serving.has(replica.url!),
        }
        return sim.start(operator, { webhooks: { listener, removeOnStop: true } })
      }
      const leadTo = () =>
        ['mutating', 'validating'].map(kind => {
          const webhooks = sim.server.object<WebhookConfiguration>(configurationPath(kind))?.webhooks
          return webhooks?.[0] && new URL(webhooks[0].clientConfig.url!).origin
        })
      const convertedBy = () => {
        const definition = sim.server.object<CrdObject>(definitionPath)
        return new URL(definition!.spec!.conversion!.webhook!.clientConfig!.url!).origin
      }
      sim.server.put(definitionPath, {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: 'widgets.example.com' },
        spec: { group: 'example.com', conversion: { strategy: 'None' } },
      })
      return { sim, serving, start, leadTo, convertedBy }
    }
    const a = 'https://127.0.0.1:1001'
    const b = 'https://127.0.0.1:1002'

    it('leaves the configurations to the second one when the first one stops', async () => {
      const world = launchTwo()
      await using sim = world.sim
      const first = world.start(a)
      await sim.world.advance(1_000)
      world.start(b)
      await sim.world.advance(1_000)
      first.stop()
      await sim.world.run(first.stopped)
      assert.deepEqual(world.leadTo(), [b, b])
      assert.equal(world.convertedBy(), b)
    })

    it('hands them back when the second one stops, without a gap', async () => {
      const world = launchTwo()
      await using sim = world.sim
      const first = world.start(a)
      await sim.world.advance(1_000)
      const second = world.start(b)
      await sim.world.advance(1_000)
      assert.deepEqual(world.leadTo(), [b, b])
      second.stop()
      await sim.world.run(second.stopped)
      assert.deepEqual(world.leadTo(), [a, a])
      assert.equal(world.convertedBy(), a)
      assert.ok(!sim.server.writes().some(write => write.startsWith('DELETE')))
      first.stop()
      await sim.world.run(first.stopped)
      assert.deepEqual(world.leadTo(), [undefined, undefined], 'the last one removes them')
    })

    it('does not fight over them, and takes over from one that was killed', async () => {
      const world = launchTwo()
      await using sim = world.sim
      world.start(a)
      await sim.world.advance(1_000)
      world.start(b)
      await sim.world.advance(1_000)
      const writes = sim.server.writes().length
      await sim.world.advance(600_000)
      assert.equal(sim.server.writes().length, writes)
      assert.deepEqual(world.leadTo(), [b, b])
      world.serving.delete(b)
      await sim.world.advance(61_000)
      assert.deepEqual(world.leadTo(), [a, a])
    })
  })

  it('logs a warning when an operator runs on a host that does not serve its webhooks', async () => {
    await using sim = new Simulation()
    new Manager(operator, {
      env: sim.world,
      transport: createInProcessTransport(sim.server.handler, sim.world),
    })
    assert.deepEqual(sim.warnings(), [], 'a manager that does not run')
    sim.start(operator)
    await sim.world.settle()
    assert.ok(sim.warnings().includes('the host of this operator does not serve its webhooks'))
  })
})
