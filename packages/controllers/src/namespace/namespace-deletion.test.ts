import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Pod, ServiceAccount } from '@coxswain/api/core/v1'
import { createNamespaceController, createServiceAccountController } from '@coxswain/controllers'
import { VirtualWorld } from '@coxswain/kit'
import { startCluster } from '@coxswain/testing'
import { aWhile, ConfigMap, Namespace, Secret, Ship, type Stage } from '@coxswain/testing/test-support/stage'
import { type StageScenario, stageScenarios } from '@coxswain/testing/test-support/stage-scenario'
import { isStream, readBody, type WireResponse } from '@coxswain/wire'

const team = { kind: Namespace, name: 'team' }
const inTeam = { namespace: 'team' }
const held = ['example.com/wait']
const kinds = [Namespace, ConfigMap, Secret]

const good: Readonly<Record<string, string>> = {
  NamespaceDeletionDiscoveryFailure: 'False ResourcesDiscovered: All resources successfully discovered',
  NamespaceDeletionGroupVersionParsingFailure:
    'False ParsedGroupVersions: All legacy kube types successfully parsed',
  NamespaceDeletionContentFailure:
    'False ContentDeleted: All content successfully deleted, may be waiting on finalization',
  NamespaceContentRemaining: 'False ContentRemoved: All content successfully removed',
  NamespaceFinalizersRemaining: 'False ContentHasNoFinalizers: All content-preserving finalizers finished',
}

async function assertConditions(stage: Stage, expected: Readonly<Record<string, string>>): Promise<void> {
  const namespace = await stage.cluster.run(stage.client.get(Namespace, { name: 'team' }))
  const { phase, conditions = [] } = namespace?.status ?? {}
  assert.equal(phase, 'Terminating')
  const shown = conditions.map(({ type, status, reason, message }) => [
    type,
    `${status} ${reason}: ${message}`,
  ])
  assert.deepEqual(Object.fromEntries(shown), { ...good, ...expected })
}

async function makePod(stage: Stage, name: string, finalizers: readonly string[] = []): Promise<void> {
  const { client } = stage
  const account = { namespace: 'team', name: 'default' }
  const found = await stage.cluster.run(client.get(ServiceAccount, account))
  if (!found) await stage.cluster.run(client.create(ServiceAccount, { metadata: account }))
  await stage.cluster.run(
    client.create(Pod, {
      metadata: { namespace: 'team', name, finalizers: [...finalizers] },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    }),
  )
}

/** Answers a request as a failing server does. */
function failWith(code: number, reason: string, message: string): WireResponse {
  const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message }
  return {
    status: code,
    headers: { 'content-type': 'application/json' },
    body: new TextEncoder().encode(JSON.stringify(status)),
  }
}

/** Discovery lists a group whose server does not answer. */
function announceStaleGroup(stage: Stage): Disposable {
  return stage.cluster.intercept(async (request, next) => {
    const response = await next(request)
    if (request.path !== '/apis' || response.status !== 200 || !response.body || isStream(response.body))
      return response
    const document = JSON.parse(new TextDecoder().decode(await readBody(response.body)))
    if (!Array.isArray(document.items)) return response
    document.items.push({
      metadata: { name: 'metrics.example.com' },
      versions: [{ version: 'v1', freshness: 'Stale', resources: [] }],
    })
    const { etag: _etag, ...headers } = response.headers
    return { ...response, headers, body: new TextEncoder().encode(JSON.stringify(document)) }
  })
}

const scenarios: readonly StageScenario[] = [
  {
    name: 'an empty namespace is deleted',
    play: async stage => {
      await stage.make(Namespace, 'team')
      await stage.remove(team)
    },
    kinds,
    end: [],
  },
  {
    name: 'everything in a namespace is deleted, and nothing outside',
    play: async stage => {
      await stage.make(Namespace, 'team')
      await stage.map('a', inTeam)
      await stage.make(Secret, 'b', inTeam)
      await makePod(stage, 'p')
      await stage.map('outside')
      await stage.remove(team)
    },
    kinds: [...kinds, Pod],
    end: ['ConfigMap outside'],
  },
  {
    name: 'custom resources are deleted as well',
    play: async stage => {
      await stage.defineKinds(Ship)
      await stage.make(Namespace, 'team')
      await stage.make(Ship, 'ship', inTeam)
      await stage.make(Ship, 'outside')
      await stage.remove(team)
    },
    kinds: [...kinds, Ship],
    end: ['Ship outside'],
  },
  {
    name: 'a stuck finalizer keeps the namespace, whose conditions report it',
    play: async stage => {
      await stage.make(Namespace, 'team')
      await stage.map('a', { ...inTeam, finalizers: held })
      await stage.map('b', { ...inTeam, finalizers: ['example.com/other', ...held] })
      await stage.make(Secret, 'c', inTeam)
      await stage.remove(team)
    },
    kinds,
    end: [
      'ConfigMap team/a [example.com/wait], going',
      'ConfigMap team/b [example.com/other, example.com/wait], going',
      'Namespace team, going',
    ],
    check: stage =>
      assertConditions(stage, {
        NamespaceContentRemaining:
          'True SomeResourcesRemain: Some resources are remaining: configmaps. has 2 resource instances',
        NamespaceFinalizersRemaining:
          'True SomeFinalizersRemain: Some content in the namespace has finalizers remaining: example.com/other in 1 resource instances, example.com/wait in 2 resource instances',
      }),
  },
  {
    name: 'a finalizer of a custom resource is reported with its group',
    play: async stage => {
      await stage.defineKinds(Ship)
      await stage.make(Namespace, 'team')
      await stage.make(Ship, 'ship', { ...inTeam, finalizers: held })
      await stage.remove(team)
    },
    kinds: [Namespace, Ship],
    end: ['Namespace team, going', 'Ship team/ship [example.com/wait], going'],
    check: stage =>
      assertConditions(stage, {
        NamespaceContentRemaining:
          'True SomeResourcesRemain: Some resources are remaining: ships.example.com has 1 resource instances',
        NamespaceFinalizersRemaining:
          'True SomeFinalizersRemain: Some content in the namespace has finalizers remaining: example.com/wait in 1 resource instances',
      }),
  },
  {
    name: 'a namespace is deleted when its content is released',
    play: async stage => {
      await stage.make(Namespace, 'team')
      const map = await stage.map('a', { ...inTeam, finalizers: held })
      await stage.remove(team)
      await stage.later()
      await stage.patch(map, { finalizers: null })
    },
    kinds,
    end: [],
  },
  {
    name: 'a finalizer of the namespace itself keeps it when its content is deleted',
    play: async stage => {
      await stage.make(Namespace, 'team', { finalizers: held })
      await stage.map('a', inTeam)
      await stage.remove(team)
    },
    kinds,
    end: ['Namespace team [example.com/wait], going'],
    check: async stage => {
      const namespace = await stage.cluster.run(stage.client.get(Namespace, { name: 'team' }))
      assert.deepEqual(namespace?.spec?.finalizers ?? [], [])
    },
  },
  {
    name: 'another finalizer in its spec keeps it, and is not removed',
    play: async stage => {
      const { run } = stage.cluster
      await stage.make(Namespace, 'team')
      const found = (await run(stage.client.get(Namespace, { name: 'team' })))!
      const finalizers = [...(found.spec?.finalizers ?? []), 'example.com/mine']
      const body = { ...found, spec: { finalizers } }
      await run(stage.client.subresource(Namespace, { name: 'team' }, 'finalize').update(body))
      await stage.map('a', inTeam)
      await stage.remove(team)
    },
    kinds,
    end: ['Namespace team, going'],
    check: async stage => {
      const namespace = await stage.cluster.run(stage.client.get(Namespace, { name: 'team' }))
      assert.deepEqual(namespace?.spec?.finalizers, ['example.com/mine'])
      await assertConditions(stage, {})
    },
  },
  {
    name: 'pods are deleted first, and nothing else while one remains',
    play: async stage => {
      await stage.make(Namespace, 'team')
      await makePod(stage, 'p', held)
      await stage.map('a', inTeam)
      await stage.remove(team)
    },
    kinds: [Namespace, ConfigMap, Pod],
    end: ['ConfigMap team/a', 'Namespace team, going', 'Pod team/p [example.com/wait], going'],
    check: stage =>
      assertConditions(stage, {
        NamespaceContentRemaining:
          'True SomeResourcesRemain: Some resources are remaining: pods. has 1 resource instances',
        NamespaceFinalizersRemaining:
          'True SomeFinalizersRemain: Some content in the namespace has finalizers remaining: example.com/wait in 1 resource instances',
      }),
  },
  {
    name: 'the rest is deleted after the last pod',
    play: async stage => {
      await stage.make(Namespace, 'team')
      await makePod(stage, 'p', held)
      await stage.map('a', inTeam)
      await stage.remove(team)
      await stage.later()
      await stage.patch({ kind: Pod, name: 'p', namespace: 'team' }, { finalizers: null })
    },
    kinds: [...kinds, Pod],
    end: [],
  },
  {
    name: 'incomplete discovery keeps the namespace, is reported, and the rest is deleted',
    play: async stage => {
      announceStaleGroup(stage)
      await stage.make(Namespace, 'team')
      await stage.map('a', inTeam)
      await stage.remove(team)
    },
    kinds,
    end: ['Namespace team, going'],
    check: stage =>
      assertConditions(stage, {
        NamespaceDeletionDiscoveryFailure:
          'True DiscoveryFailed: Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: metrics.example.com/v1: stale GroupVersion discovery: metrics.example.com/v1',
      }),
  },
  {
    name: 'it is deleted when discovery is complete again',
    play: async stage => {
      const stale = announceStaleGroup(stage)
      await stage.make(Namespace, 'team')
      await stage.remove(team)
      await stage.later()
      stale[Symbol.dispose]()
    },
    kinds,
    end: [],
  },
  {
    name: 'content that cannot be deleted keeps the namespace, whose conditions report why',
    play: async stage => {
      stage.cluster.intercept(async (request, next) =>
        request.method === 'DELETE' && request.path.endsWith('/secrets')
          ? failWith(500, 'InternalError', 'the disk is full')
          : await next(request),
      )
      await stage.make(Namespace, 'team')
      await stage.make(Secret, 's', inTeam)
      await stage.map('a', inTeam)
      await stage.remove(team)
    },
    kinds,
    end: ['Namespace team, going', 'Secret team/s'],
    keepsTrying: true,
    // The condition reports the last failure, which may be a conflict.
    hasTroublesApart: true,
    check: stage =>
      assertConditions(stage, {
        NamespaceDeletionContentFailure:
          'True ContentDeletionFailed: Failed to delete all resource types, 1 remaining: the disk is full',
      }),
  },
  {
    name: 'its content is garbage collected: foreground, orphans, finalizers of the collector',
    play: async stage => {
      await stage.make(Namespace, 'team')
      const owner = await stage.map('owner', { ...inTeam, finalizers: ['foregroundDeletion'] })
      await stage.map('child', { ...inTeam, owners: [{ ...owner, blocking: true }] })
      const other = await stage.map('other', { ...inTeam, finalizers: ['orphan'] })
      await stage.map('left', { ...inTeam, owners: [other] })
      await stage.later()
      await stage.remove(team)
    },
    kinds,
    end: [],
  },
  {
    name: 'a new namespace of the same name is independent',
    play: async stage => {
      await stage.make(Namespace, 'team')
      await stage.map('old', inTeam)
      await stage.remove(team)
      await stage.later()
      await stage.make(Namespace, 'team')
      await stage.map('new', inTeam)
    },
    kinds,
    end: ['ConfigMap team/new', 'Namespace team'],
  },
  {
    name: 'two namespaces at once: a stuck one does not delay the other',
    play: async stage => {
      await stage.make(Namespace, 'team')
      await stage.make(Namespace, 'crew')
      await stage.map('a', { ...inTeam, finalizers: held })
      await stage.map('a', { namespace: 'crew' })
      await stage.remove(team)
      await stage.remove({ kind: Namespace, name: 'crew' })
    },
    kinds,
    end: ['ConfigMap team/a [example.com/wait], going', 'Namespace team, going'],
  },
]

describe('the namespace controller', () => stageScenarios('namespace-controller', scenarios))

describe('namespaces', () => {
  it('get a default service account, also again after its deletion, but not while they are terminating', async () => {
    await using cluster = await startCluster({ env: new VirtualWorld({ seed: 4 }) })
    const { client, run } = cluster
    const account = { namespace: 'team', name: 'default' }
    await run(client.create(Namespace, { metadata: { name: 'team' } }))
    await cluster.advance(aWhile)
    const first = await run(client.get(ServiceAccount, account))
    await run(client.delete(ServiceAccount, account))
    await cluster.advance(aWhile)
    const second = await run(client.get(ServiceAccount, account))
    assert.ok(first && second && first.metadata.uid !== second.metadata.uid)
    await run(client.create(ConfigMap, { metadata: { ...inTeam, name: 'a', finalizers: [...held] } }))
    await run(client.delete(Namespace, { name: 'team' }))
    await cluster.advance(aWhile)
    assert.equal(await run(client.get(ServiceAccount, account)), undefined)
    await assert.rejects(
      run(client.create(ConfigMap, { metadata: { ...inTeam, name: 'b' } })),
      /because it is being terminated/,
    )
  })

  it('are left alone for the configured grace period', async () => {
    await using cluster = await startCluster({ env: new VirtualWorld({ seed: 5 }), controllers: false })
    const { client, run } = cluster
    cluster.start(createNamespaceController({ gracePeriod: 5_000 }))
    cluster.start(createServiceAccountController())
    await run(client.create(Namespace, { metadata: { name: 'team' } }))
    await run(client.create(ConfigMap, { metadata: { ...inTeam, name: 'a' } }))
    await run(client.delete(Namespace, { name: 'team' }))
    await cluster.advance(3_500)
    assert.ok(await run(client.get(ConfigMap, { ...inTeam, name: 'a' })))
    await cluster.advance(aWhile)
    assert.equal(await run(client.get(Namespace, { name: 'team' })), undefined)
  })
})
