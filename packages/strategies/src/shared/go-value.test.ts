import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { goValue } from './go-value.ts'
import { diffValues } from './unified-diff.ts'

describe('goValue', () => {
  it("prints a value with Go's names, order and zero values", () => {
    assert.deepEqual(Object.entries(goValue('core.Toleration', { operator: 'Exists', key: 'a' })), [
      ['Key', 'a'],
      ['Operator', 'Exists'],
      ['Value', ''],
      ['Effect', ''],
      ['TolerationSeconds', null],
    ])
  })

  it('has the settings of the host among those of security', () => {
    const { SecurityContext } = goValue('core.PodSpec', { hostNetwork: true }) as {
      SecurityContext: Record<string, unknown>
    }
    assert.equal(SecurityContext.HostNetwork, true)
    assert.equal(SecurityContext.HostPID, false)
  })

  it('is what differences are made of', () => {
    const before = goValue('core.HTTPHeader', { name: 'a', value: '<x>' })
    const after = goValue('core.HTTPHeader', { name: 'b', value: '<x>' })
    assert.equal(
      diffValues(before, after),
      '@@ -1,4 +1,4 @@\n {\n- "Name": "a",\n+ "Name": "b",\n  "Value": "\\u003cx\\u003e"\n }\n',
    )
  })
})
