import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Pod, Service } from '@coxswain/api/core/v1'
import type { EndpointSlice } from '@coxswain/api/discovery/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import { loopbackAddressOf } from './loopback-address.ts'
import { findRivals, type Machine, makeRules } from './proxy-rules.ts'

const machine: Machine = { nodes: new Set(['node-1']), address: '192.0.2.7' }

function service(spec: object, labels: Record<string, string> = {}): DeepReadonly<Service> {
  const ports = [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 'http' }]
  return {
    metadata: { namespace: 'default', name: 'web', uid: 's', labels },
    spec: { type: 'ClusterIP', clusterIP: '10.96.1.2', clusterIPs: ['10.96.1.2'], ports, ...spec },
  } as unknown as DeepReadonly<Service>
}

const isReady = { conditions: { ready: true, serving: true, terminating: false } }
const isNotReady = { conditions: { ready: false, serving: false, terminating: false } }
const isEnding = { conditions: { ready: false, serving: true, terminating: true } }

function slice(endpoints: readonly object[], rest: object = {}): DeepReadonly<EndpointSlice> {
  return {
    metadata: { namespace: 'default', name: 'web-1', uid: 'e' },
    addressType: 'IPv4',
    ports: [{ name: 'http', protocol: 'TCP', port: 8080 }],
    endpoints,
    ...rest,
  } as unknown as DeepReadonly<EndpointSlice>
}

const one = { addresses: ['10.1.0.1'], nodeName: 'node-1', ...isReady }
const two = { addresses: ['10.1.0.2'], nodeName: 'node-2', ...isReady }

const summary = (...args: [DeepReadonly<Service>, ...DeepReadonly<EndpointSlice>[]]): string[] =>
  makeRules(args[0], args.slice(1) as DeepReadonly<EndpointSlice>[], machine).map(
    ({ id, endpoints }) => `${id} > ${endpoints.map(endpoint => endpoint.id).join(' ')}`,
  )

describe('the loopback address of a cluster IP', () => {
  it('keeps all but the first number, and is undefined for anything but an IPv4 address', () => {
    assert.equal(loopbackAddressOf('10.96.0.1'), '127.96.0.1')
    assert.equal(loopbackAddressOf('127.3.2.1'), '127.3.2.1')
    for (const other of ['None', '', undefined, 'fd00::1']) assert.equal(loopbackAddressOf(other), undefined)
  })
})

describe('the rules of a service', () => {
  it('are one for the cluster IP and one for the node port', () => {
    const ports = [{ name: 'http', protocol: 'TCP', port: 80, nodePort: 30080 }]
    assert.deepEqual(summary(service({ type: 'NodePort', ports }), slice([one, two])), [
      'TCP 127.96.1.2:80 > 10.1.0.1:8080 10.1.0.2:8080',
      'TCP 127.0.0.1:30080 > 10.1.0.1:8080 10.1.0.2:8080',
    ])
  })

  it('use the endpoints hinted for this machine when all endpoints have hints', () => {
    const near = { ...one, hints: { forNodes: [{ name: 'node-1' }] } }
    const far = { ...two, hints: { forNodes: [{ name: 'node-2' }] } }
    const both = 'TCP 127.96.1.2:80 > 10.1.0.1:8080 10.1.0.2:8080'
    assert.deepEqual(summary(service({}), slice([near, far])), ['TCP 127.96.1.2:80 > 10.1.0.1:8080'])
    assert.deepEqual(summary(service({}), slice([near, two])), [both])
    assert.deepEqual(summary(service({}), slice([{ ...one, hints: far.hints }, far])), [both])
    assert.deepEqual(summary(service({}), slice([{ ...near, ...isEnding }, far])), [
      'TCP 127.96.1.2:80 > 10.1.0.2:8080',
    ])
  })

  it('match ports by name and protocol, across all slices, each address once', () => {
    const ports = [
      { name: 'http', port: 80 },
      { name: 'dns', port: 53, protocol: 'UDP' },
      { name: 'dns-tcp', port: 53 },
      { name: 'sctp', port: 9, protocol: 'SCTP' },
    ]
    const other = slice([two, one], {
      ports: [
        { name: 'http', port: 9090 },
        { name: 'dns', protocol: 'UDP', port: 5353 },
        { name: 'dns-tcp', protocol: 'UDP', port: 5354 },
      ],
    })
    assert.deepEqual(summary(service({ ports }), slice([one]), other, other), [
      'TCP 127.96.1.2:80 > 10.1.0.1:8080 10.1.0.2:9090 10.1.0.1:9090',
      'UDP 127.96.1.2:53 > 10.1.0.2:5353 10.1.0.1:5353',
    ])
  })

  it('use ready endpoints, and terminating ones that still serve only when none is ready', () => {
    const ending = { ...one, ...isEnding }
    const notReady = { ...two, ...isNotReady }
    const unknown = { addresses: ['10.1.0.3'], conditions: {} }
    assert.deepEqual(summary(service({}), slice([ending, notReady, unknown])), [
      'TCP 127.96.1.2:80 > 10.1.0.3:8080',
    ])
    assert.deepEqual(summary(service({}), slice([ending, notReady])), ['TCP 127.96.1.2:80 > 10.1.0.1:8080'])
    assert.deepEqual(summary(service({}), slice([notReady])), [])
  })

  it('prefer the ready one of two entries for one address', () => {
    const stale = slice([{ ...one, ...isNotReady }])
    for (const slices of [[stale, slice([one])] as const, [slice([one]), stale] as const])
      assert.deepEqual(summary(service({}), ...slices), ['TCP 127.96.1.2:80 > 10.1.0.1:8080'])
  })

  it('use only the endpoints of this machine for the cluster IP with internalTrafficPolicy Local', () => {
    const ports = [{ name: 'http', port: 80, nodePort: 30080 }]
    const local = { internalTrafficPolicy: 'Local', externalTrafficPolicy: 'Local', ports }
    assert.deepEqual(summary(service(local), slice([one, two])), [
      'TCP 127.96.1.2:80 > 10.1.0.1:8080',
      'TCP 127.0.0.1:30080 > 10.1.0.1:8080 10.1.0.2:8080',
    ])
    const ended = slice([{ ...one, ...isEnding }, two])
    assert.deepEqual(
      summary(service({ ...local, ports: [ports[0]] }), ended).at(0),
      'TCP 127.96.1.2:80 > 10.1.0.1:8080',
    )
  })

  it('do not exist for Services without an IPv4 cluster IP of this proxy', () => {
    const ready = slice([one])
    assert.deepEqual(summary(service({ clusterIP: 'None', clusterIPs: ['None'] }), ready), [])
    assert.deepEqual(summary(service({ type: 'ExternalName', clusterIP: '' }), ready), [])
    assert.deepEqual(summary(service({}, { 'service.kubernetes.io/service-proxy-name': 'mine' }), ready), [])
    assert.deepEqual(summary(service({ clusterIP: 'fd00::1', clusterIPs: ['fd00::1'] }), ready), [])
    const dual = { clusterIP: 'fd00::1', clusterIPs: ['fd00::1', '10.96.1.2'] }
    assert.deepEqual(summary(service(dual), ready), ['TCP 127.96.1.2:80 > 10.1.0.1:8080'])
    assert.deepEqual(summary(service({}), slice([one], { addressType: 'IPv6' })), [])
  })

  it('say how long a client keeps its endpoint', () => {
    const affinityOf = (spec: object) => makeRules(service(spec), [slice([one])], machine)[0]?.affinity
    assert.equal(affinityOf({}), undefined)
    assert.equal(affinityOf({ sessionAffinity: 'ClientIP' }), 10_800_000)
    const sessionAffinityConfig = { clientIP: { timeoutSeconds: 5 } }
    assert.equal(affinityOf({ sessionAffinity: 'ClientIP', sessionAffinityConfig }), 5_000)
  })

  it('try the loopback addresses first for endpoints of this machine', () => {
    const local = { addresses: [machine.address], targetRef: { kind: 'Pod', uid: 'p' }, ...isReady }
    const [rule] = makeRules(service({}), [slice([local, one])], machine)
    assert.deepEqual(
      rule?.endpoints.map(({ hosts, pod }) => ({ hosts, pod })),
      [
        { hosts: ['127.0.0.1', '::1', '192.0.2.7'], pod: 'p' },
        { hosts: ['10.1.0.1'], pod: undefined },
      ],
    )
  })
})

describe('the ports that Pods may use', () => {
  it('are those that they declare and those of local endpoints, while they may run', () => {
    const pod = (uid: string, containerPort: number, rest: { nodeName?: string; phase?: string } = {}) =>
      ({
        metadata: { uid, name: uid },
        spec: {
          nodeName: rest.nodeName ?? 'node-1',
          containers: [{ name: 'c', ports: [{ containerPort }] }],
        },
        status: { phase: rest.phase ?? 'Running' },
      }) as unknown as DeepReadonly<Pod>
    const local = { addresses: [machine.address], targetRef: { kind: 'Pod', uid: 'd' }, ...isReady }
    const rules = makeRules(service({}), [slice([local, one])], machine)
    const pods = [
      pod('a', 80),
      pod('b', 81, { phase: 'Failed' }),
      pod('c', 82, { nodeName: 'node-2' }),
      pod('d', 80),
    ]
    assert.deepEqual(
      findRivals(pods, rules, machine),
      new Map([
        ['TCP 80', new Set(['a', 'd'])],
        ['TCP 8080', new Set(['d'])],
      ]),
    )
  })
})
