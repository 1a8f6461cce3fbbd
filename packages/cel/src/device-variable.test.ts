import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { compileExpression } from './compile-expression.ts'
import { deviceEnvironment, deviceVariable, type SelectableDevice } from './device-variable.ts'

const gpu: SelectableDevice = {
  driver: 'gpu.example.com',
  attributes: {
    model: { string: 'a100' },
    cores: { int: 8 },
    healthy: { bool: true },
    'dra.example.org/firmware': { version: '1.10.0' },
  },
  capacity: { memory: { value: '40Gi' } },
}

function evaluate(expression: string, device: SelectableDevice = gpu): unknown {
  const compiled = compileExpression(expression, {
    variables: { device: deviceVariable },
    environment: deviceEnvironment(),
  })
  if (!compiled.ok) return compiled.message
  const result = compiled.program.evaluate({ device })
  return result.ok ? result.value : result.error
}

describe('the device of a selector', () => {
  it('has attributes by domain, of which the driver is one', () => {
    assert.equal(evaluate('device.driver == "gpu.example.com"'), true)
    assert.equal(evaluate('device.attributes["gpu.example.com"].model == "a100"'), true)
    assert.equal(evaluate('device.attributes["gpu.example.com"].cores > 4'), true)
    assert.equal(evaluate('device.attributes["gpu.example.com"].healthy'), true)
    assert.equal(
      evaluate('cel.bind(g, device.attributes["gpu.example.com"], g.cores == 8 && g.healthy)'),
      true,
    )
  })

  it('has versions and quantities that can be compared', () => {
    const firmware = 'device.attributes["dra.example.org"].firmware'
    assert.equal(evaluate(`${firmware}.isGreaterThan(semver("1.9.0"))`), true)
    const memory = 'device.capacity["gpu.example.com"].memory'
    assert.equal(evaluate(`${memory}.compareTo(quantity("40Gi")) == 0`), true)
    assert.equal(evaluate(`${memory}.isLessThan(quantity("20Gi"))`), false)
  })

  it('has no attributes in a domain that it does not know, which is no mistake', () => {
    assert.equal(evaluate('has(device.attributes["other.com"].model)'), false)
    assert.equal(evaluate('device.attributes["other.com"].model == "a"'), 'no such key: model')
    assert.equal(evaluate('"other.com" in device.attributes'), false)
    assert.equal(evaluate('"gpu.example.com" in device.attributes'), true)
    assert.equal(evaluate('device.allowMultipleAllocations'), false)
  })

  it('fails on an attribute without a value, read or not', () => {
    const odd = { driver: 'd', attributes: { a: {} } }
    assert.equal(evaluate('device.driver == "d"', odd), 'attribute a: unsupported attribute value')
  })
})
