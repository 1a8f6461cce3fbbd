import { deepEqual, isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { embedded, type GoForm, list, number, plain, pointer, struct, text } from '../shared/go-form.ts'

const selectors = list(
  'selectors',
  struct({ CEL: pointer('cel', struct({ Expression: text('expression') })) }),
)
const tolerations = list(
  'tolerations',
  struct({
    Key: text('key'),
    Operator: text('operator'),
    Value: text('value'),
    Effect: text('effect'),
    TolerationSeconds: plain('tolerationSeconds'),
  }),
)
const capacity = pointer('capacity', struct({ Requests: plain('requests') }))

const opaque = pointer(
  'opaque',
  struct({ Driver: text('driver'), Parameters: source => source.parameters ?? null }),
)

const claimForm: GoForm = struct({
  Devices: embedded(
    'devices',
    struct({
      Requests: list(
        'requests',
        struct({
          Name: text('name'),
          Exactly: pointer(
            'exactly',
            struct({
              DeviceClassName: text('deviceClassName'),
              Selectors: selectors,
              AllocationMode: text('allocationMode'),
              Count: number('count'),
              AdminAccess: plain('adminAccess'),
              Tolerations: tolerations,
              Capacity: capacity,
            }),
          ),
          FirstAvailable: list(
            'firstAvailable',
            struct({
              Name: text('name'),
              DeviceClassName: text('deviceClassName'),
              Selectors: selectors,
              AllocationMode: text('allocationMode'),
              Count: number('count'),
              Tolerations: tolerations,
              Capacity: capacity,
            }),
          ),
        }),
      ),
      Constraints: list(
        'constraints',
        struct({
          Requests: plain('requests'),
          MatchAttribute: plain('matchAttribute'),
          DistinctAttribute: plain('distinctAttribute'),
        }),
      ),
      Config: list(
        'config',
        struct({
          Requests: plain('requests'),
          Opaque: opaque,
        }),
      ),
    }),
  ),
})

const requirement = struct({ Key: text('key'), Operator: text('operator'), Values: plain('values') })

/** How Go prints the terms of a node selector. */
export const nodeSelectorTermsForm: GoForm = list(
  'nodeSelectorTerms',
  struct({
    MatchExpressions: list('matchExpressions', requirement),
    MatchFields: list('matchFields', requirement),
  }),
)

/** How Go prints what was allocated. */
export const allocationForm: GoForm = struct({
  Devices: embedded(
    'devices',
    struct({
      Results: list(
        'results',
        struct({
          Request: text('request'),
          Driver: text('driver'),
          Pool: text('pool'),
          Device: text('device'),
          AdminAccess: plain('adminAccess'),
          Tolerations: tolerations,
          BindingConditions: plain('bindingConditions'),
          BindingFailureConditions: plain('bindingFailureConditions'),
          ShareID: plain('shareID'),
          ConsumedCapacity: plain('consumedCapacity'),
        }),
      ),
      Config: list('config', struct({ Source: text('source'), Requests: plain('requests'), Opaque: opaque })),
    }),
  ),
  NodeSelector: pointer('nodeSelector', struct({ NodeSelectorTerms: nodeSelectorTermsForm })),
  AllocationTimestamp: plain('allocationTimestamp'),
})

/** How Go prints the spec of a claim. */
export function printClaimSpec(spec: JsonObject): JsonObject {
  return claimForm(spec) as JsonObject
}

/** How Go prints the spec of a template: the metadata's members stand beside the claim's spec. */
export function printTemplateSpec(spec: JsonObject): JsonObject {
  const metadata = isObject(spec.metadata) ? spec.metadata : {}
  return { ...metadata, Spec: claimForm(isObject(spec.spec) ? spec.spec : {}) }
}

/** Whether two printed values are the same; an empty list is as good as none. */
export function isSamePrinted(one: unknown, other: unknown): boolean {
  return deepEqual(withoutEmpty(one), withoutEmpty(other))
}

function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? null : value.map(withoutEmpty)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withoutEmpty(member)]))
}
