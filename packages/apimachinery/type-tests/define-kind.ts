/**
 * What the compiler must accept and refuse about defined kinds. Nothing here runs: an error that does not happen is an
 * error of the type check.
 */
import {
  type ApplyOf,
  type CreateOf,
  defineKind,
  type Kind,
  type KindOf,
  type ListMap,
  type SchemaRef,
  s,
} from '@coxswain/apimachinery/kinds'

interface Container {
  name: string
  image?: string
  args?: string[]
  ports?: ListMap<{ containerPort: number; name?: string }, 'containerPort'>
}
declare const Container: SchemaRef<Container>

const At = defineKind({
  group: 'cnat.programming-kubernetes.info',
  kind: 'At',
  versions: {
    v1alpha1: {
      storage: true,
      spec: s.object({
        schedule: s.time().doc('When to run, RFC 3339.').immutable(),
        retries: s.int32({ minimum: 0, maximum: 10 }).default(3),
        policy: s.enumOf('Allow', 'Forbid', 'Replace').default('Allow'),
        surge: s.intOrString().optional(),
        containers: s.listMap(['name'], s.ref(Container)),
        env: s.listMap(['name'], s.object({ name: s.string(), value: s.string().optional() })).optional(),
        note: s.string().nullable().optional(),
        labels: s.map(s.string()).optional(),
      }),
      status: s.object({ phase: s.enumOf('PENDING', 'RUNNING', 'DONE').default('PENDING') }),
      columns: { Schedule: '.spec.schedule', Phase: '.status.phase' },
    },
    v1: { spec: s.object({ when: s.time() }) },
  },
})
type At = KindOf<typeof At.v1alpha1>

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
function holds<T extends true>(): T | undefined {
  return undefined
}

// Reading.
declare const at: At
holds<Equal<At['apiVersion'], 'cnat.programming-kubernetes.info/v1alpha1'>>()
holds<Equal<At['kind'], 'At'>>()
holds<Equal<At['spec']['policy'], 'Allow' | 'Forbid' | 'Replace'>>()
holds<Equal<At['spec']['retries'], number>>()
holds<Equal<At['spec']['surge'], number | string | undefined>>()
holds<Equal<At['spec']['note'], string | null | undefined>>()
at.metadata.uid satisfies string
at.status?.phase satisfies 'PENDING' | 'RUNNING' | 'DONE' | undefined
at.spec.containers[0]?.image satisfies string | undefined
// @ts-expect-error a field that is not there
at.spec.unknown
// @ts-expect-error status may be absent
at.status.phase
// @ts-expect-error a value that the enum does not have
at.spec.policy === 'Never'
// @ts-expect-error another version has other fields
at.spec.when

// Creating.
type Create = CreateOf<typeof At.v1alpha1>
const minimal: Create = { spec: { schedule: '2026-01-01T00:00:00Z', containers: [{ name: 'a' }] } }
const full: Create = {
  apiVersion: 'cnat.programming-kubernetes.info/v1alpha1',
  kind: 'At',
  metadata: { generateName: 'at-' },
  spec: {
    schedule: '',
    containers: [],
    policy: 'Forbid',
    retries: 1,
    surge: '25%',
    env: [{ name: 'A' }],
    note: null,
  },
}
// @ts-expect-error schedule is required
const missing: Create = { spec: { containers: [] } }
// @ts-expect-error spec is required
const empty: Create = {}
// @ts-expect-error a wrong enum value
const wrongEnum: Create = { spec: { schedule: '', containers: [], policy: 'Never' } }
// @ts-expect-error an unknown field
const unknownField: Create = { spec: { schedule: '', containers: [], extra: 1 } }
// @ts-expect-error a wrong type
const wrongType: Create = { spec: { schedule: '', containers: [], retries: '3' } }
// @ts-expect-error the key of a list map is required
const keyless: Create = { spec: { schedule: '', containers: [], env: [{ value: 'x' }] } }

// Applying.
type Apply = ApplyOf<typeof At.v1alpha1>
const partial: Apply = { metadata: { name: 'x' }, spec: { policy: 'Forbid', env: [{ name: 'A' }] } }
const status: Apply = { metadata: { name: 'x' }, status: { phase: 'DONE' } }
const ports: Apply = {
  metadata: { name: 'x' },
  spec: { containers: [{ name: 'a', args: ['b'], ports: [{ containerPort: 80 }] }] },
}
const portless: Apply = {
  metadata: { name: 'x' },
  // @ts-expect-error the keys of a list map inside of a built-in type stay required
  spec: { containers: [{ name: 'a', ports: [{ name: 'http' }] }] },
}
// @ts-expect-error a name is required
const nameless: Apply = { metadata: {}, spec: {} }
// @ts-expect-error list map keys stay required
const applyKeyless: Apply = { metadata: { name: 'x' }, spec: { env: [{ value: 'x' }] } }
// @ts-expect-error a wrong enum value
const applyWrong: Apply = { metadata: { name: 'x' }, spec: { policy: 'Never' } }

// Defining.
// @ts-expect-error a list map key that its items do not have
s.listMap(['nam'], s.object({ name: s.string() }))
// @ts-expect-error a default of the wrong type
s.int32().default('1')
// @ts-expect-error a default that the enum does not have
s.enumOf('A', 'B').default('C')
// @ts-expect-error an enum needs a value
s.enumOf()
// @ts-expect-error a field that the object does not have
s.object({ a: s.string().optional() }).exactlyOneOf(['b'])
// @ts-expect-error a version that was not defined
At.v2
// @ts-expect-error a string has no minimum
s.string({ minimum: 1 })

export type Used = [
  typeof minimal,
  typeof full,
  typeof missing,
  typeof empty,
  typeof wrongEnum,
  typeof unknownField,
  typeof wrongType,
  typeof keyless,
  typeof partial,
  typeof ports,
  typeof portless,
  typeof status,
  typeof nameless,
  typeof applyKeyless,
  typeof applyWrong,
]

const action = s.union({ http: s.object({ path: s.string() }), exec: s.list(s.string()) })
type Action = (typeof action)['~create']
export const http: Action = { http: { path: '/' } }
// @ts-expect-error one of the alternatives is needed
export const neither: Action = {}
// @ts-expect-error only one of the alternatives
export const both: Action = { http: { path: '/' }, exec: [] }

// A kind without a version is no kind, and the compiler says what is missing.
declare function take(kind: Kind): void
take(At.v1alpha1)
// @ts-expect-error name a version
take(At)
At.version satisfies readonly ['name a version of the kind, as in At.v1'] | undefined
At.group satisfies string

// Quantities are what they are in built-in kinds.
const Disk = defineKind({
  group: 'example.com',
  kind: 'Disk',
  versions: { v1: { spec: s.object({ size: s.quantity(), spare: s.quantity().default('1Gi') }) } },
})
declare const disk: KindOf<typeof Disk.v1>
declare const requests: Record<string, string>
requests.storage = disk.spec.size
requests.storage = disk.spec.spare
// @ts-expect-error a number is no quantity
export const wrongSize: CreateOf<typeof Disk.v1> = { spec: { size: 1 } }
