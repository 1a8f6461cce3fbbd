/** What the server passes on to nodes, and to programs behind it: streams of Pods, logs and proxies; and tokens of service accounts. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { testServiceAccounts } from '@coxswain/testing/test-support/service-account-keys'
import { openProxyHouse } from '../../packages/apiserver/src/nodes/test-support/proxy-house.ts'
import {
  always,
  createScriptedBackend,
} from '../../packages/apiserver/src/nodes/test-support/scripted-backend.ts'
import { type CoverageFact, patchTypes, recordCoverage, type Verb } from './fact.ts'

const pods = '/api/v1/namespaces/default/pods'
const upgrade = { connection: 'Upgrade', upgrade: 'websocket' }
const switching = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'
const ok = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nhi'
const kubelet = '198.51.100.7:10250'

const contentTypes = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
}

it('passes streams of Pods and their logs on', async t => {
  const say = (heard: string) => (/upgrade/i.test(heard) ? switching : ok)
  const backend = createScriptedBackend(heard => always(say(heard))(heard))
  await using house = await openProxyHouse({ addresses: { [kubelet]: backend.dial } })
  await house.makePod('p', { node: 'foreign', ip: '198.51.100.20' })
  const facts: CoverageFact[] = []
  for (const target of ['exec?command=id', 'attach', 'portforward']) {
    for (const [verb, method] of [['get', 'GET'] as const, ['create', 'POST'] as const]) {
      const { status } = await house.send(method, `${pods}/p/${target}`, { headers: upgrade })
      assert.equal(status, 101, `${method} ${target}`)
      facts.push({ resource: `v1/pods/${target.split('?')[0]}`, verb, mediaType: 'stream' })
    }
  }
  assert.equal((await house.send('GET', `${pods}/p/log`)).text, 'hi')
  recordCoverage(t, ...facts, { resource: 'v1/pods/log', verb: 'get', mediaType: 'stream' })
})

it('passes requests on to nodes, Pods and Services', async t => {
  const backend = createScriptedBackend(always(ok))
  const addresses = { [kubelet]: backend.dial, '198.51.100.20:8080': backend.dial }
  await using house = await openProxyHouse({ addresses })
  await house.makePod('p', { node: 'foreign', ip: '198.51.100.20' })
  await house.make('/api/v1/namespaces/default/services', {
    metadata: { name: 's' },
    spec: { ports: [{ port: 80, targetPort: 8080 }], selector: { app: 'p' } },
  })
  await house.make('/apis/discovery.k8s.io/v1/namespaces/default/endpointslices', {
    metadata: { name: 's-1', labels: { 'kubernetes.io/service-name': 's' } },
    addressType: 'IPv4',
    ports: [{ name: '', port: 8080 }],
    endpoints: [
      {
        addresses: ['198.51.100.20'],
        conditions: { ready: true },
        targetRef: { kind: 'Pod', namespace: 'default', name: 'p' },
      },
    ],
  })
  const targets = {
    'v1/nodes/proxy': '/api/v1/nodes/foreign/proxy/x',
    'v1/pods/proxy': `${pods}/p/proxy/x`,
    'v1/services/proxy': '/api/v1/namespaces/default/services/s:80/proxy/x',
  }
  const methods: readonly (readonly [Verb, string])[] = [
    ['get', 'GET'],
    ['create', 'POST'],
    ['update', 'PUT'],
    ['delete', 'DELETE'],
  ]
  for (const [resource, target] of Object.entries(targets)) {
    for (const [verb, method] of methods) {
      assert.equal((await house.send(method, target)).text, 'hi', `${method} ${target}`)
      recordCoverage(t, { resource, verb, mediaType: 'stream' })
    }
    for (const patchType of patchTypes) {
      const headers = { 'content-type': contentTypes[patchType] }
      assert.equal((await house.send('PATCH', target, { headers })).text, 'hi', `${patchType} ${target}`)
      recordCoverage(t, { resource, verb: 'patch', patchType, mediaType: 'stream' })
    }
  }
})

it('makes tokens of service accounts, and says how components are', async t => {
  await using house = await openProxyHouse({
    server: { authentication: { serviceAccounts: testServiceAccounts } },
  })
  await house.make('/api/v1/namespaces/default/serviceaccounts/default/token', {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { audiences: [], expirationSeconds: 600 },
  })
  recordCoverage(t, { resource: 'v1/serviceaccounts/token', verb: 'create' })
  const statuses = '/api/v1/componentstatuses'
  assert.equal((await house.send('GET', statuses)).status, 200)
  assert.equal((await house.send('GET', `${statuses}/etcd-0`)).status, 200)
  recordCoverage(
    t,
    { resource: 'v1/componentstatuses', verb: 'list' },
    { resource: 'v1/componentstatuses', verb: 'get' },
  )
})
