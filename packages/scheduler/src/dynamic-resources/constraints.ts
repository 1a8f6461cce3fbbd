import type { DeviceAttribute, DeviceConstraint } from '@coxswain/api/resource/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import type { DeviceView } from './device-id.ts'

/** For which request of a claim a device is meant. */
export interface RequestName {
  readonly request: string
  /** Of a request with alternatives. */
  readonly subRequest?: string
}

/** What the devices of a claim have to have in common, or not. */
export interface Constraint {
  /** Gives what undoes it, or undefined where the device would break the constraint. */
  add(name: RequestName, device: DeviceView, driver: string): (() => void) | undefined
}

/** Undefined for a constraint that is of no known kind. */
export function createConstraint(constraint: DeepReadonly<DeviceConstraint>): Constraint | undefined {
  const { requests = [], matchAttribute, distinctAttribute } = constraint
  const attribute = matchAttribute ?? distinctAttribute
  if (attribute === undefined) return undefined
  const isSame = matchAttribute !== undefined
  const concerns = ({ request, subRequest }: RequestName) =>
    requests.length === 0 ||
    requests.includes(request) ||
    (subRequest !== undefined && requests.includes(`${request}/${subRequest}`))
  /** Those of the devices that were added: values, with their types. */
  const values: string[] = []
  return {
    add(name, device, driver) {
      if (!concerns(name)) return () => {}
      const value = describe(findAttribute(device, driver, attribute))
      if (value === undefined) return undefined
      if (isSame ? values.length > 0 && values[0] !== value : values.includes(value)) return undefined
      values.push(value)
      return () => void values.pop()
    },
  }
}

type AttributeView = DeepReadonly<DeviceAttribute>

/** By its whole name, or without the domain where that is the driver's. */
function findAttribute(device: DeviceView, driver: string, name: string): AttributeView | undefined {
  const { attributes = {} } = device
  if (Object.hasOwn(attributes, name)) return attributes[name]
  const slash = name.indexOf('/')
  if (slash < 0 || name.slice(0, slash) !== driver) return undefined
  const short = name.slice(slash + 1)
  return Object.hasOwn(attributes, short) ? attributes[short] : undefined
}

function describe(attribute: AttributeView | undefined): string | undefined {
  for (const type of ['string', 'int', 'bool', 'version'] as const)
    if (attribute?.[type] !== undefined) return `${type}:${attribute[type]}`
  return undefined
}
