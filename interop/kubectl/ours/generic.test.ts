import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { type RunningServer, startServer } from '../../support/coxswain.ts'
import { createSession, type Session } from '../session.ts'

let server: RunningServer

before(async () => {
  server = await startServer('--kinds', 'generic', '--storage', 'memory')
})
after(() => server[Symbol.asyncDispose]())

const orders = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: orders.shop.example.com }
spec:
  group: shop.example.com
  scope: Namespaced
  names: { plural: orders, kind: Order }
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties: { spec: { type: object, properties: { item: { type: string } } } }
`

describe('a generic control plane and kubectl 1.36', () => {
  let session: Session
  before(async () => {
    session = await createSession(server, '1.36', 'shop')
  })
  after(() => session[Symbol.dispose]())

  const apply = (yaml: string) => {
    const file = join(session.directory, 'manifest.yaml')
    writeFileSync(file, yaml)
    return session.kubectl('apply', '-f', file)
  }

  it('has no Pod and nothing that knows one', async () => {
    const resources = await session.ok('api-resources -o name', /^configmaps$/m, /^namespaces$/m)
    assert.doesNotMatch(resources, /^(pod|node|deploy|services|persistent|endpoint)/m)
    const roles = await session.ok('get clusterroles,roles -A -o yaml', /name: system:discovery/)
    assert.doesNotMatch(roles, /\bpods\b|\bnodes\b|kube-scheduler|deployments/)
    await session.fails('get pods', /the server doesn't have a resource type "pods"/)
    await session.fails('run web --image=nginx', /no matches for kind "Pod" in version "v1"/)
    await session.fails('explain pod', /the server doesn't have a resource type "pod"/)
    await session.ok('explain configmap', /^KIND: +ConfigMap$/m)
    await session.ok('get --raw /readyz', 'ok')
  })

  it('serves kinds of a domain, with apply, watch, quota and garbage collection', async () => {
    assert.equal((await apply(orders)).code, 0)
    await session.ok('wait --for=condition=Established crd/orders.shop.example.com --timeout=60s')
    await session.ok('create quota few --hard=count/orders.shop.example.com=1', 'resourcequota/few created')
    await session.until('get quota few -o jsonpath={.status.used}', '{"count/orders.shop.example.com":"0"}')
    const order = (name: string) =>
      `{apiVersion: shop.example.com/v1, kind: Order, metadata: {name: ${name}}, spec: {item: tea}}`
    assert.equal((await apply(order('first'))).stdout, 'order.shop.example.com/first created\n')
    assert.match((await apply(order('second'))).stderr, /exceeded quota: few/)
    await session.fails('get orders --as=jane', /User "jane" cannot list resource "orders"/)
    await session.ok('create role shopper --verb=get,list --resource=orders.shop.example.com')
    await session.ok('create rolebinding jane --role=shopper --user=jane')
    await session.ok('get orders --as=jane -o name', 'order.shop.example.com/first')
    const uid = await session.ok('get order first -o jsonpath={.metadata.uid}')
    const owned = `{apiVersion: v1, kind: ConfigMap, metadata: {name: receipt, ownerReferences: [{apiVersion: shop.example.com/v1, kind: Order, name: first, uid: ${uid}}]}}`
    assert.equal((await apply(owned)).code, 0)
    await session.ok('delete order first')
    await session.until('get configmaps -o name', /^(?![\s\S]*receipt)/)
    await session.ok('create token default', /^ey/)
    await session.ok('create namespace old', 'namespace/old created')
    await session.ok('delete namespace old --timeout=60s')
  })
})
