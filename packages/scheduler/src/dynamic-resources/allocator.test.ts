import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { NodeView } from '@coxswain/kinds'
import { createSeededRandom } from '@coxswain/kit'
import { AllocatedState } from './allocated-state.ts'
import { allocate } from './allocator.ts'
import type { ClaimView, ClassView, DeviceView, SliceView } from './device-id.ts'
import { indexSlices } from './pools.ts'
import type { AllocationResult } from './types.ts'

const driver = 'gpu.example.com'
const node = { metadata: { name: 'n1', labels: { zone: 'a' } } } as unknown as NodeView

type SliceExtras = Partial<Omit<SliceView['spec'], 'pool'>> & { pool?: Partial<SliceView['spec']['pool']> }

function slice(devices: readonly DeviceView[], extras: SliceExtras = {}, name = 's'): SliceView {
  const { pool = {}, ...spec } = extras
  const isPlaced = spec.allNodes || spec.nodeSelector || spec.perDeviceNodeSelection || spec.sharedCounters
  return {
    metadata: { name },
    spec: {
      driver,
      ...(!isPlaced && { nodeName: 'n1' }),
      pool: { name: 'p', generation: 1, resourceSliceCount: 1, ...pool },
      devices,
      ...spec,
    },
  } as unknown as SliceView
}

const gpu = (name: string, extras: Partial<DeviceView> = {}): DeviceView => ({ name, ...extras })
const model = (string: string) => ({ attributes: { model: { string } } })
const select = (expression: string) => [{ cel: { expression } }]

const claim = (devices: object, name = 'c'): ClaimView =>
  ({ metadata: { name, namespace: 'default', uid: name }, spec: { devices } }) as unknown as ClaimView

const exactly = (name: string, extras: object = {}) => ({
  name,
  exactly: { deviceClassName: 'gpu', allocationMode: 'ExactCount', count: 1, ...extras },
})

const classes: Readonly<Record<string, object>> = {
  gpu: { selectors: select(`device.driver == "${driver}"`) },
  configured: { config: [{ opaque: { driver, parameters: { mode: 'fast' } } }] },
  broken: { selectors: select('device.attributes["x"].y == 1') },
}

interface Situation {
  readonly slices: readonly SliceView[]
  readonly claims: readonly ClaimView[]
  /** Allocated claims. */
  readonly others?: readonly ClaimView[]
}

function run({ slices, claims, others = [] }: Situation): readonly AllocationResult[] | string {
  const outcome = allocate(
    {
      slices: indexSlices(slices),
      allocated: new AllocatedState(others),
      findClass: name =>
        classes[name] && ({ metadata: { name }, spec: classes[name] } as unknown as ClassView),
      random: createSeededRandom(1),
      checkTime: () => {},
    },
    node,
    claims,
  )
  return outcome.kind === 'allocated' ? outcome.results : outcome.reason
}

/** The names of the devices of each claim, or why there are none. */
function devicesOf(situation: Situation): string {
  const results = run(situation)
  if (typeof results === 'string') return results
  return results
    .map(({ devices }) => devices?.results?.map(({ request, device }) => `${request}=${device}`).join(' '))
    .join('; ')
}

const nothing = 'cannot allocate all claims'
const has = (name: string, result: object = {}): ClaimView =>
  ({
    metadata: { name: 'other', namespace: 'default', uid: 'other' },
    status: {
      allocation: { devices: { results: [{ request: 'r', driver, pool: 'p', device: name, ...result }] } },
    },
  }) as unknown as ClaimView

describe('device allocation', () => {
  it('allocates free devices to requests', () => {
    const slices = [slice([gpu('a'), gpu('b'), gpu('c')])]
    const claims = [claim({ requests: [exactly('r', { count: 2 })] })]
    assert.equal(devicesOf({ slices, claims }), 'r=a r=b')
    assert.equal(devicesOf({ slices, claims, others: [has('a')] }), 'r=b r=c')
    assert.equal(devicesOf({ slices, claims, others: [has('a'), has('c')] }), nothing)
    assert.equal(
      devicesOf({ slices, claims: [...claims, claim({ requests: [exactly('q')] }, 'd')] }),
      'r=a r=b; q=c',
      'two claims of one pod share nothing',
    )
  })

  it('evaluates the selectors of class and request', () => {
    const slices = [slice([gpu('a', model('old')), gpu('b', model('new'))])]
    const wanted = select(`device.attributes["${driver}"].model == "new"`)
    assert.equal(
      devicesOf({ slices, claims: [claim({ requests: [exactly('r', { selectors: wanted })] })] }),
      'r=b',
    )
    const foreign = [slice([gpu('a')], { driver: 'other.example.com' })]
    assert.equal(devicesOf({ slices: foreign, claims: [claim({ requests: [exactly('r')] })] }), nothing)
  })

  it('fails for invalid selectors, and names their owner', () => {
    const slices = [slice([gpu('a')])]
    const broken = [claim({ requests: [exactly('r', { deviceClassName: 'broken' })] })]
    assert.throws(() => run({ slices, claims: broken }), {
      message: 'class broken: selector #0: CEL runtime error: no such key: y',
    })
    const bad = [claim({ requests: [exactly('r', { selectors: select('device.nothing') })] })]
    assert.throws(
      () => run({ slices, claims: bad }),
      /^Error: claim default\/c: selector #0: CEL compile error/,
    )
  })

  it('backtracks if the first choice leaves nothing for others', () => {
    const slices = [slice([gpu('a', model('x')), gpu('b', model('y'))])]
    const onlyA = exactly('q', { selectors: select(`device.attributes["${driver}"].model == "x"`) })
    assert.equal(devicesOf({ slices, claims: [claim({ requests: [exactly('r'), onlyA] })] }), 'r=b q=a')
  })

  it('takes the first alternative that is available', () => {
    const slices = [slice([gpu('a', model('x')), gpu('b', model('x'))])]
    const big = { name: 'big', deviceClassName: 'gpu', allocationMode: 'ExactCount', count: 3 }
    const small = { name: 'small', deviceClassName: 'configured', allocationMode: 'ExactCount', count: 1 }
    const claims = [
      claim({
        requests: [{ name: 'r', firstAvailable: [big, small] }],
        config: [{ requests: ['r/big'], opaque: { driver, parameters: {} } }],
      }),
    ]
    const results = run({ slices, claims }) as readonly AllocationResult[]
    assert.deepEqual(results[0]?.devices?.results, [{ request: 'r/small', driver, pool: 'p', device: 'a' }])
    assert.deepEqual(results[0]?.devices?.config, [
      { source: 'FromClass', requests: ['r/small'], opaque: { driver, parameters: { mode: 'fast' } } },
    ])
  })

  it('allocates all devices, or none', () => {
    const all = [claim({ requests: [exactly('r', { allocationMode: 'All', count: undefined })] })]
    const slices = [slice([gpu('a'), gpu('b')])]
    assert.equal(devicesOf({ slices, claims: all }), 'r=a r=b')
    assert.equal(devicesOf({ slices, claims: all, others: [has('b')] }), nothing)
    assert.equal(devicesOf({ slices: [slice([])], claims: all }), nothing)
    assert.throws(
      () => run({ slices: [slice([gpu('a')], { pool: { resourceSliceCount: 2 } })], claims: all }),
      {
        message:
          'claim default/c, request r: asks for all devices, but resource pool gpu.example.com/p is currently being updated',
      },
    )
  })

  it('uses the latest generation of a pool, once it is complete', () => {
    const claims = [claim({ requests: [exactly('r')] })]
    const old = slice([gpu('old')], {}, 'a')
    const fresh = slice([gpu('new')], { pool: { generation: 2 } }, 'b')
    assert.equal(devicesOf({ slices: [old, fresh], claims }), 'r=new')
    const half = slice([gpu('new')], { pool: { generation: 2, resourceSliceCount: 2 } }, 'b')
    assert.equal(devicesOf({ slices: [old, half], claims }), nothing)
    const elsewhere = slice([gpu('new')], { nodeName: 'n2', pool: { generation: 2 } }, 'b')
    assert.equal(devicesOf({ slices: [{ ...old }, elsewhere], claims }), 'r=old')
    const obsolete = slice([gpu('old')], { pool: { resourceSliceCount: 2 } }, 'a')
    assert.equal(devicesOf({ slices: [obsolete, elsewhere], claims }), nothing, 'it is being replaced')
    assert.equal(
      devicesOf({ slices: [slice([gpu('a'), gpu('a')])], claims }),
      'invalid resource pools were encountered',
    )
  })

  it('satisfies match and distinct constraints', () => {
    const slices = [slice([gpu('a', model('x')), gpu('b', model('y')), gpu('c', model('x')), gpu('d')])]
    const two = (constraint: object) => [
      claim({ requests: [exactly('r'), exactly('q')], constraints: [constraint] }),
    ]
    const attribute = `${driver}/model`
    assert.equal(devicesOf({ slices, claims: two({ matchAttribute: attribute }) }), 'r=a q=c')
    assert.equal(devicesOf({ slices, claims: two({ distinctAttribute: attribute }) }), 'r=a q=b')
    assert.equal(
      devicesOf({ slices, claims: two({ matchAttribute: attribute, requests: ['q'] }) }),
      'r=a q=b',
    )
    const three = claim({
      requests: [exactly('r', { count: 3 })],
      constraints: [{ distinctAttribute: attribute }],
    })
    assert.equal(devicesOf({ slices, claims: [three] }), nothing)
  })

  it('allows admin access to allocated devices', () => {
    const slices = [slice([gpu('a')])]
    const looking = [claim({ requests: [exactly('r', { adminAccess: true })] })]
    const results = run({ slices, claims: looking, others: [has('a')] }) as readonly AllocationResult[]
    assert.equal(results[0]?.devices?.results?.[0]?.adminAccess, true)
    const plain = [claim({ requests: [exactly('r')] })]
    assert.equal(devicesOf({ slices, claims: plain, others: [has('a', { adminAccess: true })] }), 'r=a')
  })

  it('skips tainted devices unless the request tolerates them', () => {
    const bad = { taints: [{ key: 'broken', value: 'fan', effect: 'NoSchedule' as const }] }
    const slices = [slice([gpu('a', bad), gpu('b', { taints: [{ key: 'x', effect: 'None' as const }] })])]
    const tolerations = [{ key: 'broken', operator: 'Exists' as const }]
    assert.equal(devicesOf({ slices, claims: [claim({ requests: [exactly('r')] })] }), 'r=b')
    const results = run({ slices, claims: [claim({ requests: [exactly('r', { tolerations })] })] })
    const [result] = results as readonly AllocationResult[]
    assert.deepEqual(result?.devices?.results, [
      { request: 'r', driver, pool: 'p', device: 'a', tolerations },
    ])
    const other = [{ key: 'broken', operator: 'Equal' as const, value: 'coil' }]
    assert.equal(
      devicesOf({ slices, claims: [claim({ requests: [exactly('r', { tolerations: other })] })] }),
      'r=b',
    )
  })

  it('counts what partitions consume of their device', () => {
    const takes = (value: string) => ({
      consumesCounters: [{ counterSet: 'card', counters: { memory: { value } } }],
    })
    const pool = { resourceSliceCount: 2 }
    const counters = slice(
      [],
      { sharedCounters: [{ name: 'card', counters: { memory: { value: '40Gi' } } }], pool },
      'counters',
    )
    const parts = slice([gpu('big', takes('30Gi')), gpu('half', takes('20Gi')), gpu('rest', takes('20Gi'))], {
      pool,
    })
    const slices = [counters, parts]
    const two = [claim({ requests: [exactly('r', { count: 2 })] })]
    assert.equal(devicesOf({ slices, claims: two }), 'r=half r=rest')
    const one = [claim({ requests: [exactly('r')] })]
    assert.equal(devicesOf({ slices, claims: one, others: [has('half')] }), 'r=rest')
    assert.equal(devicesOf({ slices, claims: one, others: [has('big')] }), nothing)
  })

  it('shares devices up to their capacity', () => {
    const shared = {
      allowMultipleAllocations: true,
      capacity: {
        memory: {
          value: '40Gi',
          requestPolicy: { default: '10Gi', validRange: { min: '5Gi', step: '5Gi' } },
        },
      },
    }
    const slices = [slice([gpu('a', shared)])]
    const asking = (memory?: string) =>
      exactly('r', memory === undefined ? {} : { capacity: { requests: { memory } } })
    const taking = (result: readonly AllocationResult[] | string) =>
      typeof result === 'string'
        ? result
        : result.map(({ devices }) => devices?.results?.[0]?.consumedCapacity?.memory).join(' ')
    assert.equal(taking(run({ slices, claims: [claim({ requests: [asking()] })] })), '10Gi')
    assert.equal(
      taking(run({ slices, claims: [claim({ requests: [asking('7Gi')] })] })),
      '10Gi',
      'rounded up',
    )
    const two = [claim({ requests: [asking('20Gi')] }), claim({ requests: [asking('20Gi')] }, 'd')]
    const results = run({ slices, claims: two })
    assert.equal(taking(results), '20Gi 20Gi')
    const ids = (results as readonly AllocationResult[]).map(({ devices }) => devices?.results?.[0]?.shareID)
    assert.equal(new Set(ids).size, 2)
    const others = [has('a', { shareID: 'x', consumedCapacity: { memory: '25Gi' } })]
    assert.equal(run({ slices, claims: two, others }), nothing)
    assert.equal(run({ slices, claims: [claim({ requests: [asking('20Gi')] })], others }), nothing)
    assert.equal(taking(run({ slices, claims: [claim({ requests: [asking('15Gi')] })], others })), '15Gi')
    const odd = exactly('r', { capacity: { requests: { cores: '1' } } })
    assert.equal(run({ slices, claims: [claim({ requests: [odd] })] }), nothing, 'there is no such capacity')
  })

  it('sets the nodes on which the devices can be used', () => {
    const selectorOf = (slices: readonly SliceView[]) => {
      const results = run({ slices, claims: [claim({ requests: [exactly('r')] })] })
      return typeof results === 'string' ? results : results[0]?.nodeSelector
    }
    const onlyHere = {
      nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n1'] }] }],
    }
    assert.deepEqual(selectorOf([slice([gpu('a')])]), onlyHere)
    assert.equal(selectorOf([slice([gpu('a')], { allNodes: true })]), undefined)
    assert.deepEqual(selectorOf([slice([gpu('a', { bindsToNode: true })], { allNodes: true })]), onlyHere)
    const inZone = (value: string) => ({
      nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In' as const, values: [value] }] }],
    })
    assert.deepEqual(selectorOf([slice([gpu('a')], { nodeSelector: inZone('a') })]), inZone('a'))
    assert.equal(selectorOf([slice([gpu('a')], { nodeSelector: inZone('b') })]), nothing)
    const each = [gpu('far', { nodeName: 'n2' }), gpu('near', { nodeSelector: inZone('a') })]
    assert.deepEqual(selectorOf([slice(each, { perDeviceNodeSelection: true })]), inZone('a'))
  })

  it('allocates at most 32 devices to a claim', () => {
    const slices = [slice(Array.from({ length: 40 }, (_, index) => gpu(`d${index}`)))]
    assert.throws(() => run({ slices, claims: [claim({ requests: [exactly('r', { count: 33 })] })] }), {
      message: 'claim default/c: number of requested devices 33 exceeds the claim limit of 32',
    })
    const many = (name: string, count: number) => ({
      name,
      deviceClassName: 'gpu',
      allocationMode: 'ExactCount',
      count,
    })
    const claims = [
      claim({
        requests: [exactly('r', { count: 30 }), { name: 'q', firstAvailable: [many('a', 3), many('b', 2)] }],
      }),
    ]
    assert.match(devicesOf({ slices, claims }), /q\/b=d30 q\/b=d31$/)
  })

  it('stops at its time limit', () => {
    const slices = [slice([gpu('a')])]
    const options = {
      slices: indexSlices(slices),
      allocated: new AllocatedState([]),
      findClass: () => ({ metadata: { name: 'gpu' }, spec: {} }) as unknown as ClassView,
      random: createSeededRandom(1),
      checkTime: () => {
        throw new Error('too late')
      },
    }
    assert.throws(() => allocate(options, node, [claim({ requests: [exactly('r')] })]), /too late/)
  })
})
