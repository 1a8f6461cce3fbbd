import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import type { Kind } from '@coxswain/apimachinery/kinds'
import type { Schema } from '@coxswain/apimachinery/schema'
import { type Action, apiVersionOf } from './action.ts'
import { baseOf, changesOf, type FieldChange, withChange } from './values.ts'

/** An object of the author's, to begin with: `sample.yaml`. */
export interface Sample {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly annotations?: Readonly<Record<string, string>>
    readonly labels?: Readonly<Record<string, string>>
  }
  readonly [field: string]: unknown
}

/** What users may do, made up from the kinds of an operator. */
export interface GeneratedScenario {
  readonly name: string
  readonly actions: readonly Action[]
  readonly replicas?: number
  /** Creates the last state of the same objects at once: it has to end like `actions`. */
  readonly direct?: readonly Action[]
}

/** The second namespace of every simulated cluster. */
export const otherNamespace = 'other'

/** How many changes of one object a scenario has. */
const mostChanges = 6

/** What can be done with objects of one kind. */
interface Subject {
  readonly kind: Kind
  /** Valid fields: the sample of the author, or the simplest; then with one change each. */
  readonly variants: readonly JsonObject[]
  readonly extra: Pick<Action, 'annotations' | 'labels'>
}

/** Scenarios for the kinds that an operator reconciles, the most telling ones first. */
export function generateScenarios(kinds: readonly Kind[], samples: readonly Sample[] = []): GeneratedScenario[] {
  const subjects = kinds.map(kind => subjectOf(kind, samples)).filter(({ variants }) => variants.length > 0)
  const scenarios = subjects.flatMap(subject => [
    lifecycle(subject),
    changes(subject),
    hurry(subject),
    ...(subject.kind.namespaced ? [namesakes(subject)] : []),
    rareValues(subject),
    { ...lifecycle(subject), name: `${subject.kind.kind}: two replicas`, replicas: 2 },
  ])
  for (const [index, first] of subjects.entries())
    for (const second of subjects.slice(index + 1)) scenarios.push(inOrder(first, second), inOrder(second, first))
  return scenarios
}

function subjectOf(kind: Kind, samples: readonly Sample[]): Subject {
  const sample = samples.find(each => each.kind === kind.kind && each.apiVersion === apiVersionOf(kind))
  const { apiVersion: _, kind: __, metadata, status: ___, ...fields }: Partial<Sample> = sample ?? {}
  const schema = ownFields(kind.schema())
  const base = sample ? (fields as JsonObject) : isCustom(kind) ? baseOf(schema) : undefined
  const { annotations, labels } = metadata ?? {}
  const extra = { ...(annotations && { annotations }), ...(labels && { labels }) }
  if (!base) return { kind, variants: [], extra }
  const alternatives = isCustom(kind) ? changesOf(schema).filter(change => !isPresent(base, change)) : []
  const variants = [base, ...alternatives.map(change => withChange(base, change))]
  return { kind, variants: variants.filter(variant => isValid(kind, variant)), extra }
}

/** Built-in types have names; their objects are only made from samples. */
const isCustom = (kind: Kind): boolean => kind.group.includes('.') && !kind.group.endsWith('k8s.io') || 'validate' in kind

/** The schema without what the server writes. */
function ownFields(schema: Schema): Schema {
  const { apiVersion: _, kind: __, metadata: ___, status: ____, ...properties } = schema.properties ?? {}
  return { ...schema, properties }
}

function isPresent(object: JsonObject, { path, value }: FieldChange): boolean {
  let present: unknown = object
  for (const name of path) present = isObject(present) ? (present as JsonObject)[name] : undefined
  return JSON.stringify(present) === JSON.stringify(value)
}

/** By the rules of the kind, CEL rules included; kinds without rules of their own are left to the server. */
function isValid(kind: Kind, fields: JsonObject): boolean {
  const { validate } = kind as Kind & { validate?: (object: unknown) => readonly unknown[] }
  const object = { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata: { name: 'a' }, ...fields }
  return !validate || validate.call(kind, object).length === 0
}

type Step = Pick<Action, 'action' | 'then'> & { readonly name?: string; readonly namespace?: string; readonly variant?: number }

function act({ kind, variants, extra }: Subject, { variant, name = 'a', namespace = 'default', ...step }: Step): Action {
  return {
    ...step,
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    ...(kind.namespaced && { namespace }),
    name,
    ...(variant !== undefined && { fields: variants[variant % variants.length]! }),
    ...(step.action === 'create' && extra),
  }
}

function lifecycle(subject: Subject): GeneratedScenario {
  const steps: Step[] = [
    { action: 'create', variant: 0, then: 'settle' },
    { action: 'change', variant: 1, then: 'settle' },
    { action: 'create', name: 'b', variant: 1, then: 'settle' },
    { action: 'delete', then: 'settle' },
    { action: 'create', variant: 2, then: 'settle' },
    { action: 'delete', name: 'b', then: 'settle' },
  ]
  return { name: `${subject.kind.kind}: create, change, delete, create again`, actions: steps.map(step => act(subject, step)) }
}

/** One change after the other, back to the first, and down to the last. */
function changes(subject: Subject): GeneratedScenario {
  const count = Math.min(mostChanges, subject.variants.length - 1)
  const visited = [...Array.from({ length: count }, (_, index) => index + 1), 0, 1]
  const steps: Step[] = [
    { action: 'create', variant: 0, then: 'settle' },
    ...visited.map((variant): Step => ({ action: 'change', variant, then: 'settle' })),
  ]
  return {
    name: `${subject.kind.kind}: change every field, and back`,
    actions: steps.map(step => act(subject, step)),
    direct: [act(subject, { action: 'create', variant: visited.at(-1)!, then: 'settle' })],
  }
}

/** Everything again before the operator has settled. */
function hurry(subject: Subject): GeneratedScenario {
  const steps: Step[] = [
    { action: 'create', variant: 0, then: 20 },
    { action: 'change', variant: 1, then: 30 },
    { action: 'change', variant: 2, then: 1_500 },
    { action: 'delete', then: 10 },
    { action: 'create', variant: 1, then: 'settle' },
  ]
  return {
    name: `${subject.kind.kind}: in a hurry`,
    actions: steps.map(step => act(subject, step)),
    direct: [act(subject, { action: 'create', variant: 1, then: 'settle' })],
  }
}

function namesakes(subject: Subject): GeneratedScenario {
  const namespace = otherNamespace
  const steps: Step[] = [
    { action: 'create', variant: 0, then: 'settle' },
    { action: 'create', namespace, variant: 1, then: 'settle' },
    { action: 'change', namespace, variant: 2, then: 'settle' },
    { action: 'delete', then: 'settle' },
    { action: 'change', namespace, variant: 0, then: 'settle' },
  ]
  return { name: `${subject.kind.kind}: the same name in two namespaces`, actions: steps.map(step => act(subject, step)) }
}

/** Every value at once, each in an object of its own. */
function rareValues(subject: Subject): GeneratedScenario {
  const steps = subject.variants
    .slice(0, 12)
    .map((_, index): Step => ({ action: 'create', name: `v${index}`, variant: index, then: 100 }))
  const actions = steps.map(step => act(subject, step))
  return {
    name: `${subject.kind.kind}: every value`,
    actions: actions.map((action, index) => (index === actions.length - 1 ? { ...action, then: 'settle' } : action)),
  }
}

function inOrder(first: Subject, second: Subject): GeneratedScenario {
  return {
    name: `${first.kind.kind} before ${second.kind.kind}`,
    actions: [
      act(first, { action: 'create', variant: 0, then: 'settle' }),
      act(second, { action: 'create', variant: 0, then: 'settle' }),
      act(first, { action: 'change', variant: 1, then: 'settle' }),
      act(first, { action: 'delete', then: 'settle' }),
    ],
  }
}
