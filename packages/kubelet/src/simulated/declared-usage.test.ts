import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { PodView } from '@coxswain/kinds'
import { declaredUsageOf } from './declared-usage.ts'

const usageWith = (annotations: Record<string, string>) =>
  declaredUsageOf({ metadata: { annotations }, spec: { containers: [] } } as unknown as PodView, 'main')

const idle = { nanoCores: 1e6, memoryBytes: 8 * 1024 * 1024 }

describe('the usage of a simulated container', () => {
  it('is that of an idle one unless annotations declare it', () => {
    assert.deepEqual(usageWith({}), idle)
    assert.deepEqual(
      usageWith({
        'simulated.coxswain.dev/usage-cpu': '250m',
        'simulated.coxswain.dev/usage-memory': '64Mi',
      }),
      { nanoCores: 250e6, memoryBytes: 64 * 1024 * 1024 },
    )
  })

  it('may be declared for one container, and in the words of kwok', () => {
    const of = {
      'simulated.coxswain.dev/usage-cpu.main': '2',
      'simulated.coxswain.dev/usage-cpu': '1',
      'kwok.x-k8s.io/usage-memory': '1Ki',
    }
    assert.deepEqual(usageWith(of), { nanoCores: 2e9, memoryBytes: 1024 })
  })

  it('is bounded, and what cannot be read does not count', () => {
    const cpu = (text: string) => usageWith({ 'simulated.coxswain.dev/usage-cpu': text }).nanoCores
    assert.equal(cpu('lots'), idle.nanoCores)
    assert.equal(cpu('-1'), 0)
    assert.equal(cpu('1P'), 2 ** 50)
  })
})
