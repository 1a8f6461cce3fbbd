import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createLogger, type LogRecord, LogThreshold, VirtualWorld } from '@coxswain/kit'
import { type Component, type ComponentLogs, components, createComponentLogs } from './component-logs.ts'

async function read(logs: ComponentLogs, component: Component): Promise<string[]> {
  let text = ''
  const options = { follow: false, timestamps: false, signal: new AbortController().signal }
  for await (const chunk of logs.of(component).read(options)) text += new TextDecoder().decode(chunk)
  return text.split('\n').slice(0, -1)
}

function create(level: 'debug' | 'warn'): { logs: ComponentLogs; records: LogRecord[] } {
  const records: LogRecord[] = []
  const { clock } = new VirtualWorld({ seed: 1 })
  return {
    logs: createComponentLogs(
      createLogger(record => records.push(record)),
      new LogThreshold(level),
      clock,
    ),
    records,
  }
}

describe('the logs of the control plane components', () => {
  it('separate the records of each component', async () => {
    const { logs } = create('warn')
    logs.log.warn('served')
    logs.log.child({ informer: 'x' }).warn('served too')
    logs.log.child({ component: 'etcd' }).warn('stored')
    const manager = logs.log.child({ operator: 'kube-controller-manager' })
    manager.child({ controller: 'deployment' }).child({ key: 'a/b' }).warn('rolled out')
    logs.log.child({ operator: 'kube-scheduler' }).warn('bound')
    const nodes = logs.log.child({ operator: 'node-agent' })
    nodes.warn('of no part')
    nodes.child({ controller: 'service-proxy' }).warn('balanced')
    const messages: Partial<Record<Component, string[]>> = {}
    for (const component of components)
      messages[component] = (await read(logs, component)).map(line => line.replace(/^.* 1 /, ''))
    assert.deepEqual(messages, {
      'kube-apiserver': ['coxswain] "served"', 'x] "served too"'],
      'kube-controller-manager': ['deployment] "rolled out" key="a/b"'],
      'kube-scheduler': ['kube-scheduler] "bound"'],
      etcd: ['etcd] "stored"'],
      'kube-proxy': ['service-proxy] "balanced"'],
    })
  })

  it('have more than is printed, and debug messages only at that level', async () => {
    const quiet = create('warn')
    quiet.logs.log.info('said')
    quiet.logs.log.debug('thought')
    assert.deepEqual(quiet.records, [])
    assert.equal((await read(quiet.logs, 'kube-apiserver')).length, 1)
    const loud = create('debug')
    loud.logs.log.child({ a: 1 }).debug('thought', { b: 2 })
    assert.deepEqual(loud.records, [{ level: 'debug', message: 'thought', fields: { a: 1, b: 2 } }])
    assert.equal((await read(loud.logs, 'kube-apiserver')).length, 1)
  })

  it('have one line for each record, whatever its content', async () => {
    const { logs } = create('warn')
    const ring: { self?: unknown } = {}
    ring.self = ring
    logs.log.error('two\nlines', { error: new Error('no\nway'), list: [1], big: 1n, ring, none: undefined })
    const [line, ...others] = await read(logs, 'kube-apiserver')
    assert.deepEqual(others, [])
    assert.match(
      line ?? '',
      /^E\d{4} \d\d:\d\d:\d\d\.\d{6} {7}1 coxswain\] "two\\nlines" err="no\\nway" list=\[1\] big="1" ring="/,
    )
  })
})
