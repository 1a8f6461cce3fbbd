import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject } from '@coxswain/apimachinery/json'
import { runtimeClassStrategy } from '../node-k8s-io/runtime-class.ts'
import { priorityClassStrategy } from '../scheduling/priority-class.ts'
import type { Strategy, StrategyContext } from '../strategy.ts'
import { csiDriverStrategy } from './csi-driver.ts'
import { csiNodeStrategy } from './csi-node.ts'
import { storageClassStrategy } from './storage-class.ts'
import { volumeAttachmentStrategy } from './volume-attachment.ts'

const context = {} as StrategyContext
const metadata = { name: 'a' }

const errorsOf = (strategy: Strategy, object: JsonObject, old?: JsonObject): string[] => {
  const errors = [
    ...(strategy.validate?.(object, context, old) ?? []),
    ...(old ? (strategy.validateUpdate?.(object, old, context) ?? []) : []),
  ]
  return errors.map(({ field, body }) => `${field}: ${body}`)
}

describe('storage classes', () => {
  const base = { metadata, provisioner: 'p', volumeBindingMode: 'Immediate', reclaimPolicy: 'Delete' }

  it('keep what volumes were made with', () => {
    const changed = { ...base, parameters: { a: 'b' } }
    assert.deepEqual(errorsOf(storageClassStrategy, changed, base), [
      'parameters: Invalid value: {"a":"b"}: field is immutable',
    ])
  })

  it('name a topology once', () => {
    const term = { matchLabelExpressions: [{ key: 'zone', values: ['a'] }] }
    assert.deepEqual(errorsOf(storageClassStrategy, { ...base, allowedTopologies: [term, term] }), [
      'allowedTopologies[1].matchLabelExpressions: Duplicate value: ""',
    ])
  })

  it('show which one is the default', () => {
    const annotations = { 'storageclass.kubernetes.io/is-default-class': 'true' }
    const cells = storageClassStrategy.cells?.({ ...base, metadata: { ...metadata, annotations } }, 0)
    assert.equal(cells?.Name, 'a (default)')
  })
})

describe('CSI drivers', () => {
  it('count changes from the first one on', () => {
    const spec = { attachRequired: true }
    const object: JsonObject = { metadata: { name: 'a' }, spec: { ...spec, podInfoOnMount: true } }
    csiDriverStrategy.prepareForUpdate?.(object, { metadata, spec }, context)
    assert.equal((object.metadata as JsonObject).generation, 1)
  })

  it('warn about tokens that may be logged, when they are new', () => {
    const object = { metadata, spec: { tokenRequests: [{ audience: 'x' }] } }
    assert.equal([...csiDriverStrategy.warnings!(object, undefined)].length, 1)
    assert.deepEqual(csiDriverStrategy.warnings?.(object, object), [])
  })
})

describe('CSI nodes', () => {
  it('may change how many volumes a driver takes, nothing else of it', () => {
    const driver = { name: 'd.example.com', nodeID: 'n' }
    const node = (member: object) => ({ metadata, spec: { drivers: [{ ...driver, ...member }] } })
    assert.deepEqual(errorsOf(csiNodeStrategy, node({ allocatable: { count: 5 } }), node({})), [])
    assert.deepEqual(errorsOf(csiNodeStrategy, node({ nodeID: 'other' }), node({})), [
      'spec.drivers: Invalid value: {"Name":"d.example.com","NodeID":"other","TopologyKeys":null,"Allocatable":null}: field is immutable',
    ])
  })
})

describe('volume attachments', () => {
  it('are of one volume, which exists or is described', () => {
    const spec = { attacher: 'd.example.com', nodeName: 'n', source: {} }
    assert.deepEqual(errorsOf(volumeAttachmentStrategy, { metadata, spec }), [
      'spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName',
    ])
  })

  it('lose nothing of their metadata in a write of the status', () => {
    const old = { metadata: { name: 'a', labels: { kept: 'yes' } }, spec: {} }
    const object: JsonObject = { metadata: { name: 'a', labels: {} }, spec: {}, status: { attached: true } }
    volumeAttachmentStrategy.prepareForStatusUpdate?.(object, old, context)
    assert.deepEqual(object.metadata, old.metadata)
  })
})

describe('runtime classes', () => {
  it('have a handler that stays', () => {
    assert.deepEqual(errorsOf(runtimeClassStrategy, { metadata, handler: 'b' }, { metadata, handler: 'a' }), [
      'handler: Invalid value: "b": field is immutable',
    ])
  })

  it('tolerate a taint once', () => {
    const toleration = { key: 'k', operator: 'Exists' }
    const object = { metadata, handler: 'h', scheduling: { tolerations: [toleration, toleration] } }
    assert.match(
      errorsOf(runtimeClassStrategy, object)[0] ?? '',
      /^scheduling\.tolerations\[1\]: Duplicate value/,
    )
  })
})

describe('priority classes', () => {
  it('leave the highest values and names to the system', () => {
    assert.deepEqual(errorsOf(priorityClassStrategy, { metadata, value: 1_000_000_001 }), [
      'value: Forbidden: maximum allowed value of a user defined priority is 1000000000',
    ])
    const named = { metadata: { name: 'system-mine' }, value: 1 }
    assert.match(
      errorsOf(priorityClassStrategy, named)[0] ?? '',
      /system-mine is not a known system priority class$/,
    )
  })
})
