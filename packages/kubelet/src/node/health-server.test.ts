import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { describe, it } from 'node:test'
import type { Service } from '@coxswain/api/core/v1'
import type { EndpointSlice } from '@coxswain/api/discovery/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import { silentLogger } from '@coxswain/kit'
import type { EventRecorder } from '@coxswain/runtime'
import { HealthPorts, makeHealthCheck } from '../kube-proxy/health-ports.ts'
import { createServiceSockets } from './service-sockets.ts'

const machine = { nodes: new Set(['node-1']), address: '192.0.2.7' }

const serviceOf = (spec: object) =>
  ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'default', name: 'web', uid: 's' },
    spec: { type: 'LoadBalancer', externalTrafficPolicy: 'Local', ...spec },
  }) as unknown as DeepReadonly<Service>

const sliceOf = (...endpoints: object[]) => ({ endpoints }) as unknown as DeepReadonly<EndpointSlice>
const here = { addresses: ['10.1.0.1'], nodeName: 'node-1', conditions: { ready: true } }
const elsewhere = { addresses: ['10.1.0.2'], nodeName: 'node-2', conditions: { ready: true } }
const ending = { addresses: ['10.1.0.3'], nodeName: 'node-1', conditions: { ready: false, serving: true } }

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

describe('the health check of a service', () => {
  it('counts the endpoints of this machine that are ready, each once', () => {
    const of = (spec: object) =>
      makeHealthCheck(serviceOf(spec), [sliceOf(here, elsewhere, ending), sliceOf(here)], machine)
    assert.equal(of({ healthCheckNodePort: 30_001 })?.localEndpoints, 1)
    assert.equal(of({ healthCheckNodePort: 30_001, externalTrafficPolicy: 'Cluster' }), undefined)
    assert.equal(of({}), undefined)
  })

  it("is served in kube-proxy's format, and reported when it cannot be", async () => {
    const reported: string[] = []
    const events = {
      warning: (_subject: unknown, reason: string) => void reported.push(reason),
    } as unknown as EventRecorder
    const audience = { events, log: silentLogger }
    await using sockets = createServiceSockets()
    const ports = new HealthPorts(sockets)
    const port = await freePort()
    const check = (localEndpoints: number) => ({
      service: serviceOf({ healthCheckNodePort: port }),
      port,
      localEndpoints,
    })
    const ask = async () => {
      const answer = await fetch(`http://127.0.0.1:${port}/healthz`)
      return [answer.status, answer.headers.get('x-load-balancing-endpoint-weight'), await answer.json()]
    }
    const service = { namespace: 'default', name: 'web' }
    await ports.sync([check(2)], audience)
    assert.deepEqual(await ask(), [200, '2', { service, localEndpoints: 2, serviceProxyHealthy: true }])
    await ports.sync([check(0)], audience)
    assert.deepEqual(await ask(), [503, '0', { service, localEndpoints: 0, serviceProxyHealthy: true }])
    await new HealthPorts(sockets).sync([check(1)], audience)
    assert.deepEqual(reported, ['FailedToStartServiceHealthcheck'])
    await ports.sync([], audience)
    await assert.rejects(ask())
  })
})
