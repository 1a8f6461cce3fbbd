import type { DeviceAttribute, DeviceConstraint } from '@coxswain/api/resource/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import type { DeviceView } from './device-id.ts'

/** The request of a claim that a device is allocated to. */
export interface RequestName {
  readonly request: string
  /** For a request with alternatives. */
  readonly subRequest?: string
}

/** A constraint on the attributes of a claim's devices. */
export interface Constraint {
  /** Returns the undo function, or undefined if the device would violate the constraint. */
  add(name: RequestName, device: DeviceView, driver: string): (() => void) | undefined
}

/** Undefined for an unknown type of constraint. */
export function createConstraint(constraint: DeepReadonly<DeviceConstraint>): Constraint | undefined {
  const { requests = [], matchAttribute, distinctAttribute } = constraint
  const attribute = matchAttribute ?? distinctAttribute
  if (attribute === undefined) return undefined
  const isSame = matchAttribute !== undefined
  const concerns = ({ request, subRequest }: RequestName) =>
    requests.length === 0 ||
    requests.includes(request) ||
    (subRequest !== undefined && requests.includes(`${request}/${subRequest}`))
  /** The typed values of the added devices. */
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

/** By qualified name, or without the domain if it is the driver's. */
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
