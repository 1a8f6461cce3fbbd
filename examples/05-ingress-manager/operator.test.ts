import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { Service } from '@coxswain/api/core/v1'
import { Ingress } from '@coxswain/api/networking/v1'
import { readYamlDocuments } from '@coxswain/apimachinery/yaml'
import { createClient, type Operator, runOperator } from 'coxswain'
import { type Cluster, startCluster, VirtualWorld } from 'coxswain/testing'
import operator, { annotation } from './operator.ts'

const key = { namespace: 'default', name: 'web' }
const account = 'system:serviceaccount:ingress-manager:ingress-manager'

interface Rule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
}

/** What the ClusterRole of the manifests allows, as `networking.k8s.io/ingresses list`. */
function allowedByManifests(): string[] {
  const documents = [...readYamlDocuments(readFileSync(new URL('./deploy.yaml', import.meta.url)))]
  const role = documents
    .map(({ value }) => value as { kind: string; rules: Rule[] })
    .find(({ kind }) => kind === 'ClusterRole')
  assert.ok(role)
  return role.rules.flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap(group =>
      resources.flatMap(resource => verbs.map(verb => `${group}/${resource} ${verb}`)),
    ),
  )
}

/** The same words for a request. */
function describeRequest(method: string, path: string, query: string): string {
  const [, api, ...rest] = path.split('/')
  const [group, , ...inside] = api === 'api' ? ['', ...rest] : rest
  const [resource, name] = inside[0] === 'namespaces' && inside.length > 2 ? inside.slice(2) : inside
  const reads = query.includes('watch=') ? 'watch' : name ? 'get' : 'list'
  const verbs: Record<string, string> = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' }
  return `${group}/${resource} ${verbs[method] ?? reads}`
}

function refuse(code: number, reason: string) {
  const status = { apiVersion: 'v1', kind: 'Status', metadata: {}, status: 'Failure', reason, code }
  const body = new TextEncoder().encode(JSON.stringify(status))
  return { status: code, headers: { 'content-type': 'application/json' }, body }
}

interface Options {
  /** An API server that cannot stream lists: they are asked for as lists then. @default true */
  readonly streamsLists?: boolean
}

/** Runs an operator as the service account, with the rights of the manifests; tells what it asked for. */
function startWithRights(cluster: Cluster, what: Operator, { streamsLists = true }: Options) {
  const allowed = new Set(allowedByManifests())
  const asked = new Set<string>()
  cluster.intercept(async (request, next) => {
    if (request.peer?.commonName !== account) return next(request)
    const wanted = describeRequest(request.method, request.path, request.query)
    asked.add(wanted)
    if (!allowed.has(wanted)) return refuse(403, 'Forbidden')
    if (!streamsLists && request.query.includes('sendInitialEvents')) return refuse(422, 'Invalid')
    return next(request)
  })
  const { env } = cluster
  const groups = ['system:masters'] // what it may do is decided above
  const client = createClient({ env, transport: cluster.connect({ name: account, groups }) })
  const stop = new AbortController()
  const running = runOperator(what, { client, env, freeze: true, signal: stop.signal })
  return {
    asked,
    async [Symbol.asyncDispose]() {
      stop.abort()
      await cluster.run(running)
    },
  }
}

async function launch(options: Options = {}) {
  const cluster = await startCluster({ env: new VirtualWorld({ seed: 1 }) })
  const running = startWithRights(cluster, operator, options)
  const { client, run } = cluster
  await cluster.settle()
  return {
    ...cluster,
    asked: running.asked,
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
    async [Symbol.asyncDispose]() {
      await running[Symbol.asyncDispose]()
      await cluster[Symbol.asyncDispose]()
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

  it('asks for exactly what its ClusterRole allows', async () => {
    await using cluster = await launch({ streamsLists: false })
    await cluster.createService({ [annotation]: 'a.example.com' })
    await cluster.settle()
    await cluster.annotate('b.example.com')
    await cluster.settle()
    await cluster.annotate(null)
    await cluster.advance(60_000)
    assert.deepEqual([...cluster.asked].sort(), allowedByManifests().sort())
  })
})
