/** Pods with devices: what they ask for, and the cluster in which they do. */
import { Node } from '@coxswain/api/core/v1'
import { DeviceClass, ResourceSlice } from '@coxswain/api/resource/v1'
import type { Given } from '../../../packages/testing/src/test-support/scheduling/scenario.ts'

const driver = 'gpu.example.com'

const node = (name: string, zone: string, more: Readonly<Record<string, string>> = {}): Given => {
  const allocatable = { cpu: '8', memory: '16Gi', pods: '50', ...more }
  const metadata = { name, labels: { 'kubernetes.io/hostname': name, zone } }
  return [Node, { metadata, spec: { taints: [] }, status: { capacity: allocatable, allocatable } }]
}

const takes = (value: string) => ({
  consumesCounters: [{ counterSet: 'card', counters: { memory: { value } } }],
})

export const cluster: readonly Given[] = [
  node('n1', 'a'),
  node('n2', 'b', { 'example.com/plug': '2' }),
  [
    DeviceClass,
    {
      metadata: { name: 'gpu' },
      spec: {
        selectors: [{ cel: { expression: `device.driver == "${driver}"` } }],
        config: [{ opaque: { driver, parameters: { mode: 'fast' } } }],
        extendedResourceName: 'example.com/gpu',
      },
    },
  ],
  [DeviceClass, { metadata: { name: 'any' }, spec: {} }],
  [
    ResourceSlice,
    {
      metadata: { name: 'n1-gpus' },
      spec: {
        driver,
        nodeName: 'n1',
        pool: { name: 'n1', generation: 1, resourceSliceCount: 2 },
        devices: [
          {
            name: 'a',
            attributes: { model: { string: 'old' }, cores: { int: 4 }, fw: { version: '1.2.3' } },
            capacity: { memory: { value: '40Gi' } },
          },
          {
            name: 'b',
            attributes: { model: { string: 'new' }, cores: { int: 8 }, fw: { version: '1.10.0' } },
            capacity: { memory: { value: '80Gi' } },
          },
          { name: 'part1', ...takes('30Gi') },
          { name: 'part2', ...takes('20Gi') },
          { name: 'part3', ...takes('20Gi') },
          {
            name: 'tainted',
            attributes: { model: { string: 'tainted' } },
            taints: [{ key: 'broken', value: 'fan', effect: 'NoSchedule' }],
          },
        ],
      },
    },
  ],
  [
    ResourceSlice,
    {
      metadata: { name: 'n1-counters' },
      spec: {
        driver,
        nodeName: 'n1',
        pool: { name: 'n1', generation: 1, resourceSliceCount: 2 },
        sharedCounters: [{ name: 'card', counters: { memory: { value: '40Gi' } } }],
      },
    },
  ],
  [
    ResourceSlice,
    {
      metadata: { name: 'net' },
      spec: {
        driver: 'net.example.com',
        nodeSelector: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['b'] }] }],
        },
        pool: { name: 'net', generation: 1, resourceSliceCount: 1 },
        devices: [
          {
            name: 'eth',
            allowMultipleAllocations: true,
            capacity: {
              bw: {
                value: '10G',
                requestPolicy: { default: '1G', validRange: { min: '500M', step: '500M' } },
              },
            },
          },
        ],
      },
    },
  ],
]

const attributes = `device.attributes["${driver}"]`
const capacity = `device.capacity["${driver}"]`
const select = (expression: string) => ({ selectors: [{ cel: { expression } }] })
const exactly = (more: object = {}, name = 'r') => ({ name, exactly: { deviceClassName: 'gpu', ...more } })
const one = (more: object = {}) => ({ requests: [exactly(more)] })
const two = (constraint: object) => ({
  requests: [exactly(), exactly({}, 'q')],
  constraints: [constraint],
})
const config = (value: number, ...requests: string[]) => ({
  ...(requests.length > 0 && { requests }),
  opaque: { driver, parameters: { value } },
})
const isPart = select(`!has(${attributes}.model)`)
const isTainted = select(`has(${attributes}.model) && ${attributes}.model == "tainted"`)
const network = { deviceClassName: 'any', ...select('device.driver == "net.example.com"') }

/** The devices of a claim, by what is special about them. */
export const claims: Readonly<Record<string, object>> = {
  'two of a kind': one({ count: 2 }),
  'more than there are': one({ count: 20 }),
  'no requests': {},
  'a number that is compared': one(select(`has(${attributes}.cores) && ${attributes}.cores > 5`)),
  'an attribute that is missing': one(select(`${attributes}.nope > 5`)),
  'a version that is compared': one(
    select(`has(${attributes}.fw) && ${attributes}.fw.isGreaterThan(semver("1.9.0"))`),
  ),
  'a capacity that is compared': one(
    select(`"memory" in ${capacity} && ${capacity}.memory.compareTo(quantity("50Gi")) >= 0`),
  ),
  'an alternative': {
    requests: [
      {
        name: 'r',
        firstAvailable: [
          { name: 'x', deviceClassName: 'gpu', count: 20 },
          { name: 'y', deviceClassName: 'gpu', count: 1 },
        ],
      },
    ],
    config: [config(1, 'r/y'), config(2, 'r/x'), config(3)],
  },
  'all of some': one({ allocationMode: 'All', ...select(`has(${attributes}.cores)`) }),
  'parts of a card': one({ count: 2, ...isPart }),
  'more parts than the card has': one({ count: 3, ...isPart }),
  'a taint': one(isTainted),
  'a taint that is tolerated': one({ tolerations: [{ key: 'broken', operator: 'Exists' }], ...isTainted }),
  'devices that match': two({ matchAttribute: `${driver}/model` }),
  'devices that differ': two({ distinctAttribute: `${driver}/model` }),
  'a share, rounded up': one({ ...network, capacity: { requests: { bw: '1200M' } } }),
  'a share of the usual size': one({ deviceClassName: 'any', ...select('device.allowMultipleAllocations') }),
  'a share that is too large': one({ ...network, capacity: { requests: { bw: '11G' } } }),
  'a class that is missing': one({ deviceClassName: 'nope' }),
}

const container = (name: string, requests: Readonly<Record<string, string>>) => ({
  name,
  image: 'i',
  resources: { requests, limits: requests },
})
const gpu = (count: string) => ({ 'example.com/gpu': count })

/** Pods that ask for extended resources. */
export const pods: Readonly<Record<string, object>> = {
  'devices for a resource': { containers: [container('a', gpu('2'))] },
  'devices for two containers': {
    containers: [container('a', { ...gpu('1'), cpu: '1' }), container('b', gpu('1'))],
  },
  'init containers that use what others have': {
    initContainers: [container('i1', gpu('3')), container('i2', gpu('1'))],
    containers: [container('a', gpu('1')), container('b', gpu('1'))],
  },
  'init containers that need more': {
    initContainers: [container('i1', gpu('2')), container('i2', gpu('3'))],
    containers: [container('a', gpu('1'))],
  },
  'the name of a class': { containers: [container('a', { 'deviceclass.resource.kubernetes.io/gpu': '1' })] },
  'both names': {
    containers: [container('a', { 'deviceclass.resource.kubernetes.io/gpu': '1', ...gpu('1') })],
  },
  'more than a claim may have': { containers: [container('a', gpu('50'))] },
  'what a device plug-in has': { containers: [container('a', { 'example.com/plug': '1' })] },
  'a plug-in here, devices there': {
    containers: [container('a', { 'example.com/plug': '1', ...gpu('1') })],
  },
  'what no node has': { containers: [container('a', { 'example.com/none': '1' })] },
}
