import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CustomResourceDefinition } from '@coxswain/api/apiextensions/v1'
import { Deployment } from '@coxswain/api/apps/v1'
import { ConfigMap, Namespace } from '@coxswain/api/core/v1'
import { newForbidden } from '@coxswain/apimachinery/status'
import { VirtualWorld } from '@coxswain/kit'
import { type Cluster, startCluster } from '@coxswain/testing'
import { isProjectError } from '../errors.ts'
import { type DeployOptions, deploy } from './deploy.ts'
import { formatName, type Manifest } from './object-name.ts'
import type { DeployProgress } from './progress.ts'
import { readManifests } from './read-manifests.ts'
import { setImage } from './set-image.ts'
import { createTarget, type DeployTarget } from './target.ts'
import { planRemoval, remove } from './undeploy.ts'

const home = 'web-system'
const options: DeployOptions = { project: 'web', namespace: 'default', timeout: 60_000 }

const namespace = `
apiVersion: v1
kind: Namespace
metadata: { name: ${home} }
---`
const map = (name: string) => `
apiVersion: v1
kind: ConfigMap
metadata: { name: ${name}, namespace: ${home} }
data: { key: value }
---`
const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: things.example.com }
spec:
  group: example.com
  scope: Namespaced
  names: { kind: Thing, plural: things }
  versions:
    - name: v1
      served: true
      storage: true
      schema: { openAPIV3Schema: { type: object, x-kubernetes-preserve-unknown-fields: true } }
---`
const thing = `
apiVersion: example.com/v1
kind: Thing
metadata: { name: one, namespace: ${home} }
---`
const deployment = (image: string) => `
apiVersion: apps/v1
kind: Deployment
metadata: { name: web, namespace: ${home} }
spec:
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: manager, image: ${image} }] }
---`

interface Stage extends AsyncDisposable {
  readonly cluster: Cluster
  readonly target: DeployTarget
  readonly lines: string[]
  deploy(text: string, more?: Partial<DeployOptions>): Promise<void>
}

async function launch(nodes = 1): Promise<Stage> {
  const cluster = await startCluster({
    env: new VirtualWorld({ seed: 3 }),
    nodes,
    controllers: '*',
    scheduler: true,
  })
  const lines: string[] = []
  const onProgress = (progress: DeployProgress) => {
    const { type, object } = progress
    lines.push(`${type} ${formatName(object)}${'message' in progress ? `: ${progress.message}` : ''}`)
  }
  const target = createTarget({ client: cluster.client, env: cluster.env, onProgress })
  return {
    cluster,
    target,
    lines,
    deploy: (text, more = {}) =>
      cluster.run(deploy(target, readManifests(text, 'test'), { ...options, ...more })),
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  }
}

const key = (name: string) => ({ namespace: home, name })

describe('deploying a project', () => {
  it('applies namespaces and definitions first, whatever their order, and shows the rollout', async () => {
    await using stage = await launch()
    await stage.deploy([thing, deployment('a'), map('settings'), definition, namespace].join('\n'))
    assert.deepEqual(stage.lines.slice(0, 7), [
      `applied namespace/${home}`,
      'applied customresourcedefinition.apiextensions.k8s.io/things.example.com',
      'established customresourcedefinition.apiextensions.k8s.io/things.example.com',
      'applied thing.example.com/one',
      'applied deployment.apps/web',
      'applied configmap/settings',
      'waiting deployment.apps/web: Waiting for deployment spec update to be observed...',
    ])
    assert.equal(stage.lines.at(-1), 'ready deployment.apps/web: deployment "web" successfully rolled out')
    const { client, run } = stage.cluster
    const made = await run(client.get(Deployment, key('web')))
    assert.equal(made?.status?.availableReplicas, 1)
    assert.ok(
      made.metadata.managedFields?.some(
        ({ manager, operation }) => manager === 'coxswain' && operation === 'Apply',
      ),
    )
  })

  it('prunes what it applied before and no longer has, and nothing else', async () => {
    await using stage = await launch()
    const { client, run } = stage.cluster
    await stage.deploy([namespace, definition, map('old'), map('kept'), deployment('a')].join('\n'))
    await run(client.create(ConfigMap, { metadata: key('foreign') }))
    stage.lines.length = 0
    await stage.deploy([namespace, map('kept'), deployment('b')].join('\n'))
    assert.deepEqual(
      stage.lines.filter(line => /^(pruned|kept)/.test(line)).map(line => line.split(':')[0]),
      ['pruned configmap/old', 'kept customresourcedefinition.apiextensions.k8s.io/things.example.com']
        .sort()
        .reverse(),
    )
    assert.equal(await run(client.get(ConfigMap, key('old'))), undefined)
    assert.ok(await run(client.get(ConfigMap, key('foreign'))))
    assert.ok(await run(client.get(CustomResourceDefinition, { name: 'things.example.com' })))
    const parent = await run(client.get(ConfigMap, key('web-applyset')))
    // What kubectl computes for the parent: base64url(sha256("web-applyset.web-system.ConfigMap.")).
    assert.equal(
      parent?.metadata.labels?.['applyset.kubernetes.io/id'],
      'applyset-FfoE-c9JAvI_cT9ucY9oY8DBzhXdAp4Z3TB5mTsoY3w-v1',
    )
    assert.equal(
      parent?.metadata.annotations?.['applyset.kubernetes.io/contains-group-kinds'],
      'ConfigMap,CustomResourceDefinition.apiextensions.k8s.io,Deployment.apps,Namespace',
    )
  })

  it('refuses to use the ApplySet of another tool', async () => {
    await using stage = await launch()
    const { client, run } = stage.cluster
    await run(client.create(Namespace, { metadata: { name: home } }))
    const annotations = { 'applyset.kubernetes.io/tooling': 'kubectl/v1.36.0' }
    await run(client.create(ConfigMap, { metadata: { ...key('web-applyset'), annotations } }))
    await assert.rejects(
      stage.deploy(map('a')),
      error =>
        isProjectError(error, 'ForeignApplySet') && /is an ApplySet of kubectl\/v1.36.0/.test(error.message),
    )
    assert.deepEqual(stage.lines, [])
  })

  it('names the manager of a conflicting field, and takes it over with force', async () => {
    await using stage = await launch()
    const { client, run } = stage.cluster
    await stage.deploy([namespace, map('a')].join('\n'))
    const other = { metadata: key('a'), data: { key: 'other' } }
    await run(client.apply(ConfigMap, other, { fieldManager: 'editor', force: true }))
    await assert.rejects(
      stage.deploy([namespace, map('a')].join('\n')),
      error =>
        isProjectError(error, 'NotApplied') &&
        /^configmap\/a: .*conflict with "editor".*\.data\.key; --force-conflicts/s.test(error.message),
    )
    await stage.deploy([namespace, map('a')].join('\n'), { force: true })
    assert.deepEqual((await run(client.get(ConfigMap, key('a'))))?.data, { key: 'value' })
  })

  it('stores nothing in a dry run, and says what it could not check', async () => {
    await using stage = await launch()
    const { client, run } = stage.cluster
    await stage.deploy([namespace, definition, thing, map('a')].join('\n'), { dryRun: true })
    assert.deepEqual(stage.lines, [
      `applied namespace/${home}`,
      'applied customresourcedefinition.apiextensions.k8s.io/things.example.com',
      'unchecked thing.example.com/one: customresourcedefinition.apiextensions.k8s.io/things.example.com does not exist yet',
      `unchecked configmap/a: namespace/${home} does not exist yet`,
    ])
    assert.equal(await run(client.get(Namespace, { name: home })), undefined)
    await stage.deploy([namespace, map('a'), map('b')].join('\n'))
    stage.lines.length = 0
    await stage.deploy([namespace, map('a')].join('\n'), { dryRun: true })
    assert.deepEqual(stage.lines, [`applied namespace/${home}`, 'applied configmap/a', 'pruned configmap/b'])
    assert.ok(await run(client.get(ConfigMap, key('b'))))
  })

  it('says why a Deployment does not become ready', async () => {
    await using stage = await launch(0)
    await assert.rejects(
      stage.deploy([namespace, deployment('a')].join('\n')),
      error =>
        isProjectError(error, 'NotReady') &&
        /^deployment.apps\/web is not ready: Waiting for deployment "web" rollout to finish: 0 of 1 updated replicas are available/.test(
          error.message,
        ) &&
        /\n {2}pod web-\S+: Unschedulable: no nodes available/.test(error.message),
    )
    await stage.deploy([namespace, deployment('a')].join('\n'), { wait: false })
  })

  it('says why a definition is not established', async () => {
    await using stage = await launch()
    const { client, run } = stage.cluster
    await stage.deploy(definition)
    const taken = definition.replaceAll('things', 'thingies')
    await assert.rejects(
      stage.deploy(taken),
      error =>
        isProjectError(error, 'NotEstablished') &&
        /thingies.example.com is not established: .*is already in use/.test(error.message),
    )
    assert.ok(await run(client.get(CustomResourceDefinition, { name: 'thingies.example.com' })))
  })

  it('stops at the first object that is refused', async () => {
    await using stage = await launch()
    using _ = stage.cluster.intercept(async (request, next) => {
      if (request.method !== 'PATCH' || !request.path.endsWith('/configmaps/a')) return await next(request)
      const { status } = newForbidden({ group: '', resource: 'configmaps' }, 'a', 'no')
      const body = new TextEncoder().encode(JSON.stringify(status))
      return { status: 403, headers: { 'content-type': 'application/json' }, body }
    })
    await assert.rejects(
      stage.deploy([namespace, map('a'), map('b')].join('\n')),
      error =>
        isProjectError(error, 'NotApplied') &&
        /^configmap\/a: configmaps "a" is forbidden/.test(error.message),
    )
    assert.deepEqual(stage.lines, [`applied namespace/${home}`])
  })
})

describe('undeploying a project', () => {
  it('deletes definitions first, then the rest, also what only an earlier deployment had', async () => {
    await using stage = await launch()
    const { client, run } = stage.cluster
    const all = [namespace, definition, thing, map('a'), deployment('x')].join('\n')
    await stage.deploy(all)
    stage.lines.length = 0
    const now = readManifests([namespace, deployment('x')].join('\n'), 'test')
    const plan = await run(planRemoval(stage.target, now, options))
    assert.deepEqual(plan.lost, [{ resource: 'things.example.com', count: 1 }])
    await run(remove(stage.target, plan, { timeout: 60_000 }))
    assert.equal(stage.lines[0], 'deleted customresourcedefinition.apiextensions.k8s.io/things.example.com')
    assert.equal(stage.lines.at(-1), `deleted namespace/${home}`)
    assert.ok(stage.lines.includes('deleted configmap/a'))
    assert.equal(await run(client.get(Namespace, { name: home })), undefined)
    const again = await run(planRemoval(stage.target, now, options))
    assert.deepEqual(again, { objects: [], lost: [] })
  })

  it('says which finalizers hold a definition', async () => {
    await using stage = await launch()
    const { run } = stage.cluster
    const held = thing.replace('name: one', 'name: one, finalizers: [example.com/held]')
    await stage.deploy([namespace, definition, held].join('\n'))
    const plan = await run(
      planRemoval(stage.target, readManifests(definition, 'test'), { namespace: 'default' }),
    )
    await assert.rejects(
      run(remove(stage.target, plan, { timeout: 10_000 })),
      error =>
        isProjectError(error, 'NotDeleted') &&
        /thing.example.com\/one has the finalizers example.com\/held/.test(error.message),
    )
  })
})

describe('the manifests of a project', () => {
  it('are refused with their place when they are not objects', () => {
    for (const [text, problem] of [
      ['a: 1', /x.yaml: is not a Kubernetes object: apiVersion and kind are required/],
      ['[1]', /x.yaml: is not a Kubernetes object/],
      [
        `${namespace}\napiVersion: v1\nkind: ConfigMap`,
        /x.yaml, document 2: ConfigMap: metadata.name is required/,
      ],
      ['apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization', /use -k/],
      ['a: [', /x.yaml: /],
    ] as const)
      assert.throws(
        () => readManifests(text, 'x.yaml'),
        error => isProjectError(error, 'BadManifest') && problem.test(error.message),
        text,
      )
  })

  it('get another image in the container called manager only', () => {
    const manifests: Manifest[] = readManifests([map('a'), deployment('a')].join('\n'), 'x')
    const changed = JSON.stringify(setImage(manifests, 'example.com/web:1'))
    assert.match(changed, /"name":"manager","image":"example.com\/web:1"/)
    assert.throws(() => setImage(manifests.slice(0, 1), 'x'), /no container is called manager/)
  })
})
