import type { DeviceSelector } from '@coxswain/api/resource/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import {
  type Compilation,
  compileExpression,
  deviceEnvironment,
  deviceVariable,
  type SelectableDevice,
} from '@coxswain/cel'
import { BoundedMap } from '@coxswain/kit'

/** The cost limit of a selector at runtime. */
const costLimit = 1_000_000

/** Bounded by the few expressions of classes and templates. */
const compiled = new BoundedMap<string, Compilation>(50)

function compile(expression: string): Compilation {
  let compilation = compiled.get(expression)
  if (!compilation) {
    const variables = { device: deviceVariable }
    compilation = compileExpression(expression, { variables, environment: deviceEnvironment() })
    compiled.set(expression, compilation)
  }
  return compilation
}

/** Whether all selectors match the device. Throws an Error that names `owner` if one cannot be evaluated. */
export function matchesSelectors(
  selectors: readonly DeepReadonly<DeviceSelector>[] = [],
  device: SelectableDevice,
  owner: string,
): boolean {
  return selectors.every(({ cel }, index) => {
    const place = `${owner}: selector #${index}`
    const compilation = compile(cel?.expression ?? '')
    if (!compilation.ok) throw new Error(`${place}: CEL compile error: ${compilation.message}`)
    const result = compilation.program.evaluate({ device }, { costLimit })
    if (!result.ok) throw new Error(`${place}: CEL runtime error: ${result.error}`)
    if (typeof result.value === 'boolean') return result.value
    throw new Error(`${place}: CEL runtime error: the result could not be converted to bool`)
  })
}
