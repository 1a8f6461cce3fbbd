import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { decodeBuiltin } from './builtin-decoder.ts'

// biome-ignore lint/suspicious/noExplicitAny: objects of all kinds, whose members tests name
const decode = (group: string, version: string, kind: string, value: object): any =>
  decodeBuiltin({ group, version, kind }, value).object

describe('decodeBuiltin', () => {
  it('rounds amounts of resources up to thousandths, wherever they stand', () => {
    const amounts = {
      cpu: '100.5m',
      memory: '1u',
      'example.com/a': '1e-5',
      'example.com/b': '-1n',
      pods: '1.5',
    }
    const rounded = {
      cpu: '101m',
      'example.com/a': '1e-3',
      'example.com/b': '-1m',
      memory: '1m',
      pods: '1500m',
    }
    const template = { spec: { containers: [{ name: 'c', resources: { requests: amounts } }] } }
    const job = decode('batch', 'v1', 'Job', { spec: { template } })
    assert.deepEqual(job.spec.template.spec.containers[0]!.resources.requests, rounded)
    const quota = decode('', 'v1', 'ResourceQuota', { spec: { hard: amounts } })
    assert.deepEqual(quota.spec.hard, rounded)
    const node = decode('', 'v1', 'Node', { status: { capacity: amounts } })
    assert.deepEqual(node.status.capacity, rounded)
  })

  it('leaves the precision of other quantities alone', () => {
    const overhead = { podFixed: { cpu: '100.5m' } }
    assert.deepEqual(decode('node.k8s.io', 'v1', 'RuntimeClass', { overhead }).overhead, {
      podFixed: { cpu: '100500u' },
    })
    const emptyDir = { sizeLimit: '100.5m' }
    const pod = decode('', 'v1', 'Pod', { spec: { volumes: [{ name: 'v', emptyDir }] } })
    assert.match(JSON.stringify(pod), /"sizeLimit":"100500u"/)
  })
})
