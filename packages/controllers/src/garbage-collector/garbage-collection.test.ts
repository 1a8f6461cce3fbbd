import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { HorizontalPodAutoscaler } from '@coxswain/api/autoscaling/v2'
import { kindFor } from '@coxswain/client'
import {
  ConfigMap,
  Namespace,
  Port,
  PriorityClass,
  Secret,
  Ship,
  type Stage,
} from '@coxswain/testing/test-support/stage'
import { type StageScenario, stageScenarios } from '@coxswain/testing/test-support/stage-scenario'

const absentOwner = { kind: ConfigMap, name: 'absent-owner', uid: '12345678-1234-1234-1234-123456789012' }
const held = ['example.com/wait']
const release = { finalizers: null }
const background = { propagationPolicy: 'Background' } as const
const foreground = { propagationPolicy: 'Foreground' } as const
const orphan = { propagationPolicy: 'Orphan' } as const

/** An owner with a child that blocks its deletion. */
async function blockedPair(stage: Stage, finalizers: readonly string[] = []) {
  const owner = await stage.map('owner')
  const child = await stage.map('child', { owners: [{ ...owner, blocking: true }], finalizers })
  return { owner, child }
}

const scenarios: readonly StageScenario[] = [
  {
    name: 'background: dependents and theirs are deleted after their owner, unrelated objects are kept',
    play: async stage => {
      const owner = await stage.map('owner')
      const child = await stage.map('child', { owners: [owner] })
      await stage.map('grandchild', { owners: [child] })
      await stage.make(Secret, 'other-child', { owners: [owner] })
      await stage.map('unrelated')
      await stage.remove(owner, background)
    },
    end: ['ConfigMap unrelated'],
  },
  {
    name: 'background is the default',
    play: async stage => {
      const owner = await stage.map('owner')
      await stage.map('child', { owners: [owner] })
      await stage.remove(owner)
    },
    end: [],
  },
  {
    name: 'background: a dependent with a finalizer of its own waits for its removal',
    play: async stage => {
      const owner = await stage.map('owner')
      await stage.map('child', { owners: [owner], finalizers: held })
      await stage.remove(owner)
    },
    end: ['ConfigMap child <- owner [example.com/wait], going'],
  },
  {
    name: 'background: twenty dependents are deleted',
    play: async stage => {
      const owner = await stage.map('owner')
      for (let index = 0; index < 20; index++) await stage.map(`child-${index}`, { owners: [owner] })
      await stage.remove(owner)
    },
    end: [],
  },
  {
    name: 'two owners: a dependent that another one owns is kept, without the reference to the deleted one',
    play: async stage => {
      const gone = await stage.map('gone')
      const stays = await stage.map('stays')
      await stage.map('child', { owners: [gone, stays] })
      await stage.later()
      await stage.remove(gone)
    },
    end: ['ConfigMap child <- stays', 'ConfigMap stays'],
  },
  {
    name: 'two owners: it is deleted after the last of them',
    play: async stage => {
      const one = await stage.map('one')
      const two = await stage.map('two')
      await stage.map('child', { owners: [one, two] })
      await stage.later()
      await stage.remove(one)
      await stage.later()
      await stage.remove(two)
    },
    end: [],
  },
  {
    name: 'orphan: dependents are kept without the reference',
    play: async stage => {
      const owner = await stage.map('owner')
      await stage.map('child', { owners: [owner] })
      await stage.make(Secret, 'other-child', { owners: [owner] })
      await stage.later()
      await stage.remove(owner, orphan)
    },
    end: ['ConfigMap child', 'Secret other-child'],
  },
  {
    name: 'orphan: references to others are kept, and so are grandchildren',
    play: async stage => {
      const owner = await stage.map('owner')
      const other = await stage.map('other')
      const child = await stage.map('child', { owners: [owner, other] })
      await stage.map('grandchild', { owners: [child] })
      await stage.later()
      await stage.remove(owner, orphan)
    },
    end: ['ConfigMap child <- other', 'ConfigMap grandchild <- child', 'ConfigMap other'],
  },
  {
    name: 'orphan: an owner with another finalizer waits, its dependents are orphaned already',
    play: async stage => {
      const owner = await stage.map('owner', { finalizers: held })
      await stage.map('child', { owners: [owner] })
      await stage.later()
      await stage.remove(owner, orphan)
    },
    end: ['ConfigMap child', 'ConfigMap owner [example.com/wait], going'],
  },
  {
    name: 'foreground: the owner is deleted after its blocking dependents',
    play: async stage => {
      const { owner } = await blockedPair(stage)
      await stage.later()
      await stage.remove(owner, foreground)
    },
    end: [],
  },
  {
    name: 'foreground: the owner waits for a blocking dependent that waits itself',
    play: async stage => {
      const { owner } = await blockedPair(stage, held)
      await stage.later()
      await stage.remove(owner, foreground)
    },
    end: [
      'ConfigMap child <- owner! [example.com/wait], going',
      'ConfigMap owner [foregroundDeletion], going',
    ],
  },
  {
    name: 'foreground: both are deleted when the dependent is released',
    play: async stage => {
      const { owner, child } = await blockedPair(stage, held)
      await stage.later()
      await stage.remove(owner, foreground)
      await stage.later()
      await stage.patch(child, release)
    },
    end: [],
  },
  {
    name: 'foreground: an owner with another finalizer is deleted again in the foreground, and released again',
    play: async stage => {
      const owner = await stage.map('owner', { finalizers: held })
      for (const options of [foreground, orphan, foreground]) {
        await stage.remove(owner, options)
        await stage.later()
      }
    },
    end: ['ConfigMap owner [example.com/wait], going'],
  },
  {
    name: 'foreground: a dependent that does not block is deleted without waiting for it',
    play: async stage => {
      const owner = await stage.map('owner')
      await stage.map('child', { owners: [owner], finalizers: held })
      await stage.later()
      await stage.remove(owner, foreground)
    },
    end: ['ConfigMap child <- owner [example.com/wait], going'],
  },
  {
    name: 'foreground: dependents with dependents are deleted in the foreground too',
    play: async stage => {
      const { owner, child } = await blockedPair(stage)
      await stage.map('grandchild', { owners: [{ ...child, blocking: true }], finalizers: held })
      await stage.later()
      await stage.remove(owner, foreground)
    },
    end: [
      'ConfigMap child <- owner! [foregroundDeletion], going',
      'ConfigMap grandchild <- child! [example.com/wait], going',
      'ConfigMap owner [foregroundDeletion], going',
    ],
  },
  {
    name: 'foreground: all generations are deleted, the youngest first',
    play: async stage => {
      const { owner, child } = await blockedPair(stage)
      const grandchild = await stage.map('grandchild', { owners: [{ ...child, blocking: true }] })
      await stage.map('youngest', { owners: [{ ...grandchild, blocking: true }] })
      await stage.later()
      await stage.remove(owner, foreground)
    },
    end: [],
  },
  {
    name: 'foreground: a dependent with another owner is kept, and does not block the owner',
    play: async stage => {
      const owner = await stage.map('owner')
      const other = await stage.map('other')
      await stage.map('child', { owners: [{ ...owner, blocking: true }, other] })
      await stage.later()
      await stage.remove(owner, foreground)
    },
    end: ['ConfigMap child <- other', 'ConfigMap other'],
  },
  {
    name: 'foreground: an owner without dependents is deleted at once',
    play: async stage => stage.remove(await stage.map('owner'), foreground),
    end: [],
  },
  {
    name: 'blockOwnerDeletion: unsetting it releases the waiting owner',
    play: async stage => {
      const { owner, child } = await blockedPair(stage, held)
      await stage.later()
      await stage.remove(owner, foreground)
      await stage.later()
      const { uid } = owner
      const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid, blockOwnerDeletion: false }
      await stage.patch(child, { ownerReferences: [reference] })
    },
    end: ['ConfigMap child <- owner [example.com/wait], going'],
  },
  {
    name: 'blockOwnerDeletion: removing the reference releases the waiting owner',
    play: async stage => {
      const { owner, child } = await blockedPair(stage, held)
      await stage.later()
      await stage.remove(owner, foreground)
      await stage.later()
      await stage.patch(child, { ownerReferences: null })
    },
    end: ['ConfigMap child [example.com/wait], going'],
  },
  {
    name: 'cycles: two that own each other are deleted together in the background',
    play: async stage => {
      const one = await stage.map('one')
      const two = await stage.map('two', { owners: [one] })
      const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'two', uid: two.uid }
      await stage.patch(one, { ownerReferences: [reference] })
      await stage.later()
      await stage.remove(one)
    },
    end: [],
  },
  {
    name: 'cycles: two that block each other are deleted in the foreground',
    play: async stage => {
      const one = await stage.map('one')
      const two = await stage.map('two', { owners: [{ ...one, blocking: true }] })
      const reference = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        name: 'two',
        uid: two.uid,
        blockOwnerDeletion: true,
      }
      await stage.patch(one, { ownerReferences: [reference] })
      await stage.later()
      await stage.remove(one, foreground)
    },
    end: [],
  },
  {
    name: 'cycles: three in a ring are kept unless one is deleted',
    play: async stage => {
      const one = await stage.map('one')
      const two = await stage.map('two', { owners: [one] })
      const three = await stage.map('three', { owners: [two] })
      const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'three', uid: three.uid }
      await stage.patch(one, { ownerReferences: [reference] })
    },
    end: ['ConfigMap one <- three', 'ConfigMap three <- two', 'ConfigMap two <- one'],
  },
  {
    name: 'cycles: an object that owns itself is deleted when requested',
    play: async stage => {
      const one = await stage.map('one')
      const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'one', uid: one.uid }
      await stage.patch(one, { ownerReferences: [reference] })
      await stage.later()
      await stage.remove(one)
    },
    end: [],
  },
  {
    name: 'absent owners: the dependent of an owner that never existed is deleted',
    play: async stage => void (await stage.map('child', { owners: [absentOwner] })),
    end: [],
  },
  {
    name: 'absent owners: beside an existing one only the reference is removed',
    play: async stage => {
      const owner = await stage.map('owner')
      await stage.map('child', { owners: [absentOwner, owner] })
    },
    end: ['ConfigMap child <- owner', 'ConfigMap owner'],
  },
  {
    name: 'absent owners: a reference that is added later counts as well',
    play: async stage => {
      const child = await stage.map('child')
      await stage.later()
      const { name, uid } = absentOwner
      await stage.patch(child, { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name, uid }] })
    },
    end: [],
  },
  {
    name: 'absent owners: removing the reference in time keeps the dependent',
    play: async stage => {
      const owner = await stage.map('owner')
      const child = await stage.map('child', { owners: [owner] })
      await stage.later()
      await stage.patch(child, { ownerReferences: null })
      await stage.remove(owner)
    },
    end: ['ConfigMap child'],
  },
  {
    name: 'wrong uid: another object under the name of the owner owns nothing',
    play: async stage => {
      const owner = await stage.map('owner')
      await stage.map('child', { owners: [owner] })
      await stage.later()
      await stage.remove(owner)
      await stage.map('owner')
    },
    end: ['ConfigMap owner'],
  },
  {
    name: 'wrong uid: an owner that was replaced while the collector was down',
    play: async stage => {
      const owner = await stage.map('owner')
      await stage.map('child', { owners: [{ ...owner, uid: absentOwner.uid }] })
    },
    end: ['ConfigMap owner'],
  },
  {
    name: 'wrong coordinates: a reference with the right uid and the wrong name does not affect correct ones',
    play: async stage => {
      const owner = await stage.map('owner')
      const brief = await stage.map('brief')
      await stage.map('good', { owners: [owner, brief] })
      await stage.map('bad', { owners: [{ ...owner, name: 'mistaken' }] })
      await stage.later()
      await stage.remove(brief)
    },
    end: ['ConfigMap good <- owner', 'ConfigMap owner'],
  },
  {
    name: 'wrong coordinates: the right uid and the wrong kind, all observed at once',
    before: async stage => {
      const owner = await stage.make(Secret, 'owner')
      await stage.map('bad', { owners: [{ ...owner, kind: ConfigMap }] })
      await stage.map('good', { owners: [owner] })
      await stage.make(Secret, 'also-good', { owners: [owner] })
    },
    end: ['ConfigMap good <- owner', 'Secret also-good <- owner', 'Secret owner'],
  },
  {
    name: 'wrong coordinates: an absent uid under three names, all dependents are deleted',
    before: async stage => {
      for (const name of ['x', 'y', 'z'])
        await stage.map(`child-${name}`, { owners: [{ ...absentOwner, name }] })
      await stage.make(Secret, 'child-s', { owners: [{ ...absentOwner, kind: Secret }] })
    },
    end: [],
  },
  {
    name: 'across namespaces: a child that existed before the collector is deleted, with an event, and nothing else is',
    before: async stage => {
      await stage.make(Namespace, 'elsewhere')
      const owner = await stage.make(Secret, 'owner')
      await stage.map('bad', { owners: [owner], namespace: 'elsewhere' })
      await stage.map('good', { owners: [owner] })
    },
    end: ['ConfigMap good <- owner', 'Secret owner'],
    events:
      /^OwnerRefInvalidNamespace: ownerRef \[v1\/Secret, namespace: elsewhere, name: owner, uid: [0-9a-f-]{36}\]/,
  },
  {
    name: 'across namespaces: a child in another namespace is deleted, with an event; the owner`s own are kept',
    play: async stage => {
      await stage.make(Namespace, 'elsewhere')
      const owner = await stage.map('owner')
      await stage.map('good', { owners: [owner] })
      await stage.later()
      await stage.map('bad', { owners: [owner], namespace: 'elsewhere' })
    },
    end: ['ConfigMap good <- owner', 'ConfigMap owner'],
    events:
      /^OwnerRefInvalidNamespace: ownerRef \[v1\/ConfigMap, namespace: elsewhere, name: owner, uid: [0-9a-f-]{36}\] does not exist in namespace "elsewhere"$/,
  },
  {
    name: 'across scopes: a namespaced object cannot own a cluster-scoped one, which is kept, with an event',
    play: async stage => {
      const owner = await stage.map('owner')
      await stage.later()
      await stage.make(PriorityClass, 'outside', { owners: [owner] })
      await stage.later()
      await stage.remove(owner)
    },
    kinds: [ConfigMap, PriorityClass],
    end: ['PriorityClass outside <- owner'],
    events:
      /^OwnerRefInvalidNamespace: ownerRef \[v1\/ConfigMap, namespace: , name: owner, uid: [0-9a-f-]{36}\] does not exist in namespace ""$/,
  },
  {
    name: 'across scopes: a cluster-scoped object owns namespaced ones everywhere',
    play: async stage => {
      await stage.make(Namespace, 'elsewhere')
      const owner = await stage.make(PriorityClass, 'outside')
      await stage.map('here', { owners: [owner] })
      await stage.map('there', { owners: [owner], namespace: 'elsewhere' })
      await stage.later()
      await stage.remove(owner)
    },
    kinds: [ConfigMap, PriorityClass],
    end: [],
  },
  {
    name: 'across scopes: a cluster-scoped owner that never existed, named in two namespaces',
    play: async stage => {
      await stage.make(Namespace, 'elsewhere')
      const owner = { ...absentOwner, kind: PriorityClass }
      await stage.map('here', { owners: [owner] })
      await stage.map('there', { owners: [owner], namespace: 'elsewhere' })
    },
    end: [],
  },
  {
    name: 'custom resources: own built-in ones, and are owned by them',
    play: async stage => {
      await stage.defineKinds(Ship)
      const ship = await stage.make(Ship, 'ship')
      const map = await stage.map('map', { owners: [ship] })
      await stage.make(Ship, 'boat', { owners: [map] })
      await stage.later()
      await stage.remove(ship)
    },
    kinds: [ConfigMap, Ship],
    end: [],
  },
  {
    name: 'custom resources: cluster-scoped, in the foreground, with one that waits',
    play: async stage => {
      await stage.defineKinds(Ship, Port)
      const port = await stage.make(Port, 'port')
      const ship = await stage.make(Ship, 'ship', {
        owners: [{ ...port, blocking: true }],
        finalizers: held,
      })
      await stage.later()
      await stage.remove(port, foreground)
      await stage.later()
      assert.deepEqual(await stage.state([Port, Ship]), [
        'Port port [foregroundDeletion], going',
        'Ship ship <- port! [example.com/wait], going',
      ])
      await stage.patch(ship, release)
    },
    kinds: [Port, Ship],
    end: [],
  },
  {
    name: 'custom resources: orphans',
    play: async stage => {
      await stage.defineKinds(Ship)
      const ship = await stage.make(Ship, 'ship')
      await stage.make(Ship, 'boat', { owners: [ship] })
      await stage.later()
      await stage.remove(ship, orphan)
    },
    kinds: [Ship],
    end: ['Ship boat'],
  },
  {
    name: 'unknown kinds: a dependent of an owner whose kind is not served is kept',
    play: async stage => {
      const owner = { ...absentOwner, kind: kindFor({ ...Ship, kind: 'Submarine', resource: 'submarines' }) }
      await stage.map('child', { owners: [owner] })
    },
    end: ['ConfigMap child <- absent-owner'],
  },
  {
    name: 'unknown kinds: when the kind is served and the owner does not exist, the dependent is deleted',
    play: async stage => {
      await stage.map('child', { owners: [{ ...absentOwner, kind: Ship }] })
      await stage.later()
      assert.deepEqual(await stage.state(), ['ConfigMap child <- absent-owner'])
      await stage.defineKinds(Ship)
      await stage.later(600_000)
    },
    end: [],
  },
  {
    name: 'versions: a reference may name another version than the preferred one',
    play: async stage => {
      const spec = {
        maxReplicas: 3,
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'x' },
      }
      const made = await stage.cluster.run(
        stage.client.create(HorizontalPodAutoscaler, {
          metadata: { namespace: 'default', name: 'hpa' },
          spec,
        }),
      )
      const old = kindFor({ ...HorizontalPodAutoscaler, version: 'v1' })
      const owner = { kind: old, name: 'hpa', namespace: 'default', uid: made.metadata.uid }
      await stage.map('child', { owners: [owner] })
      await stage.later()
      assert.deepEqual(await stage.state(), ['ConfigMap child <- hpa'])
      await stage.remove({ ...owner, kind: HorizontalPodAutoscaler })
    },
    end: [],
  },
  {
    name: 'finalizers: a dependent with the orphan finalizer orphans its own dependents',
    play: async stage => {
      const owner = await stage.map('owner')
      const child = await stage.map('child', { owners: [owner], finalizers: ['orphan'] })
      await stage.map('grandchild', { owners: [child] })
      await stage.later()
      await stage.remove(owner)
    },
    end: ['ConfigMap grandchild'],
  },
  {
    name: 'finalizers: a dependent with the foreground finalizer is deleted in the foreground',
    play: async stage => {
      const owner = await stage.map('owner')
      const child = await stage.map('child', { owners: [owner], finalizers: ['foregroundDeletion'] })
      await stage.map('grandchild', { owners: [{ ...child, blocking: true }], finalizers: held })
      await stage.later()
      await stage.remove(owner)
    },
    end: [
      'ConfigMap child <- owner [foregroundDeletion], going',
      'ConfigMap grandchild <- child! [example.com/wait], going',
    ],
  },
  {
    name: 'finalizers: an owner with a finalizer keeps its dependents',
    play: async stage => {
      const owner = await stage.map('owner', { finalizers: held })
      await stage.map('child', { owners: [owner] })
      await stage.later()
      await stage.remove(owner)
    },
    end: ['ConfigMap child <- owner', 'ConfigMap owner [example.com/wait], going'],
  },
]

describe('the garbage collector', () => stageScenarios('garbage-collector-controller', scenarios))
