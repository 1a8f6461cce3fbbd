import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createClient } from '@coxswain/client'
import { createInProcessTransport } from '@coxswain/wire'
import { Simulation } from '../test-support/simulation.ts'
import { type CertificateMaker, CertificateRotation, type WebhookCertificates } from './certificates.ts'

const day = 86_400_000
const key = { namespace: 'default', name: 'hooks' }
const secretPath = '/api/v1/namespaces/default/secrets/hooks'

/** Certificates that are JSON. */
function createToyMaker(): CertificateMaker & { made: number } {
  const pair = (content: object) => {
    maker.made++
    const serial = maker.made
    return { certificate: `${JSON.stringify({ serial, ...content })}\n`, key: `key ${serial}` }
  }
  const maker = {
    made: 0,
    createCa: (name: string, validity: object) => pair({ name, ...validity, hosts: [] }),
    createServer: (hosts: readonly string[], validity: object, ca: { certificate: string }) =>
      pair({ hosts, ...validity, by: JSON.parse(ca.certificate).serial }),
    read: ({ certificate, key: text }: { certificate: string; key: string }) => {
      try {
        const content = JSON.parse(certificate)
        return text === `key ${content.serial}` ? content : undefined
      } catch {
        return undefined
      }
    },
    isSignedBy: (certificate: string, ca: string) => JSON.parse(certificate).by === JSON.parse(ca).serial,
  }
  return maker
}

function launch(hosts: readonly string[] = ['hooks.default.svc']) {
  const sim = new Simulation()
  const maker = createToyMaker()
  const clientOf = () =>
    createClient({ transport: createInProcessTransport(sim.server.handler, sim.world), env: sim.world })
  const replica = (names = hosts) => {
    const { clock, log } = sim.world
    const secret = { client: clientOf(), key }
    const rotation = new CertificateRotation({ maker, clock, log, hosts: names, name: 'hooks', secret })
    return () => sim.world.run(rotation.ensure())
  }
  return { sim, maker, replica }
}

const serialsIn = (bundle: string): number[] =>
  bundle
    .trim()
    .split('\n')
    .map(line => JSON.parse(line).serial)
const issuerOf = ({ server }: WebhookCertificates): number => JSON.parse(server.certificate).by

describe('certificates of webhooks', () => {
  it('are created once, stored in a Secret, and shared by replicas', async () => {
    const { sim, maker, replica } = launch()
    await using _ = sim
    const first = await replica()()
    assert.deepEqual(await replica()(), first)
    assert.equal(maker.made, 2)
    const secret = sim.server.object<{ type: string; data: Record<string, string> }>(secretPath)!
    assert.equal(secret.type, 'kubernetes.io/tls')
    assert.equal(atob(secret.data['tls.key']!), first.server.key)
    assert.equal(atob(secret.data['ca.crt']!), first.caBundle)
  })

  it('are the same in replicas that start at the same time', async () => {
    for (let seed = 1; seed <= 20; seed++) {
      await using sim = new Simulation({ seed })
      const maker = createToyMaker()
      const { clock, log } = sim.world
      const all = Array.from({ length: 3 }, () => {
        const transport = createInProcessTransport(sim.server.handler, sim.world)
        const secret = { client: createClient({ transport, env: sim.world }), key }
        return new CertificateRotation({ maker, clock, log, hosts: ['h'], name: 'hooks', secret }).ensure()
      })
      const [first, ...others] = await sim.world.run(Promise.all(all))
      for (const other of others) assert.deepEqual(other, first, `seed ${seed}`)
    }
  })

  it('are always valid, and always trusted by clients with the bundle of ten minutes ago', async () => {
    const { sim, replica } = launch()
    await using _ = sim
    const ensure = replica()
    const other = replica()
    const { clock } = sim.world
    let before = await ensure()
    const servers = new Set<string>()
    const cas = new Set<number>()
    // Each check is ten minutes after the last, once a day and more often around renewals.
    for (let i = 0; i < 3 * 365; i++) {
      for (let look = 0; look < 3; look++) {
        const now = await (look % 2 ? other() : ensure())
        const { notBefore, notAfter } = JSON.parse(now.server.certificate)
        assert.ok(notBefore <= clock.now() && clock.now() < notAfter, 'it is valid')
        assert.ok(serialsIn(now.caBundle).includes(issuerOf(now)), 'it is trusted now')
        assert.ok(
          serialsIn(before.caBundle).includes(issuerOf(now)),
          'and by clients with the previous bundle',
        )
        servers.add(now.server.certificate)
        cas.add(issuerOf(now))
        before = now
        await sim.world.advance(600_000)
      }
      await sim.world.advance(day - 3 * 600_000)
    }
    assert.ok(servers.size >= 15 && servers.size <= 25, `${servers.size} certificates in three years`)
    assert.ok(cas.size >= 4 && cas.size <= 6, `${cas.size} CAs in three years`)
  })

  it('are created again for other names', async () => {
    const { sim, replica } = launch()
    await using _ = sim
    const first = await replica()()
    const second = await replica(['hooks.default.svc', 'other.default.svc'])()
    assert.notEqual(second.server.certificate, first.server.certificate)
    assert.equal(second.caBundle, first.caBundle)
  })

  it('are written back when the Secret is lost, and created again when it is corrupt', async () => {
    const { sim, replica } = launch()
    await using _ = sim
    const ensure = replica()
    const first = await ensure()
    sim.server.delete(secretPath)
    assert.deepEqual(await ensure(), first)
    const secret = sim.server.object<{ data: Record<string, string> }>(secretPath)!
    const spoilt = {
      ...secret,
      kind: 'Secret',
      apiVersion: 'v1',
      data: { ...secret.data, 'ca.key': btoa('x') },
    }
    sim.server.put(secretPath, spoilt)
    const mended = await replica()()
    assert.notEqual(mended.caBundle, first.caBundle)
    assert.ok(serialsIn(mended.caBundle).includes(issuerOf(mended)))
  })

  it('stay in memory without a Secret', async () => {
    await using sim = new Simulation()
    const { clock, log } = sim.world
    const rotation = new CertificateRotation({ maker: createToyMaker(), clock, log, hosts: ['h'], name: 'n' })
    const first = await rotation.ensure()
    assert.deepEqual(await rotation.ensure(), first)
    await sim.world.advance(61 * day)
    assert.notDeepEqual(await rotation.ensure(), first)
  })
})
