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
  /** Whether faults are tried early in the search. */
  readonly isTelling?: boolean
}

/** The second namespace of every simulated cluster. */
export const otherNamespace = 'other'

/** How many changes of one object a scenario has, and how many variants of an object there are. */
const mostChanges = 6
const mostVariants = 40

/** What can be done with objects of one kind. */
interface Subject {
  readonly kind: Kind
  /** Valid fields: the sample of the author, or the simplest; then with one change each. */
  readonly variants: readonly JsonObject[]
  readonly extra: Pick<Action, 'annotations' | 'labels'>
}

/** Scenarios for the kinds that an operator reconciles, the most telling ones first. */
export async function generateScenarios(
  kinds: readonly Kind[],
  samples: readonly Sample[],
  isValid: Validator,
): Promise<GeneratedScenario[]> {
  const all: Subject[] = []
  for (const kind of kinds) all.push(await subjectOf(kind, samples, isValid))
  const subjects = all.filter(({ variants }) => variants.length > 0)
  const scenarios = subjects.flatMap(subject => [
    { ...lifecycle(subject), isTelling: true },
    { ...changes(subject), isTelling: true },
    ...(subject.kind.namespaced ? [namesakes(subject)] : []),
    ...(subject.variants.length > 1 ? [everyValue(subject, 'there'), everyValue(subject, 'back')] : []),
    hurry(subject),
    { ...lifecycle(subject), name: `${subject.kind.kind}: two replicas`, replicas: 2 },
  ])
  for (const [index, first] of subjects.entries())
    for (const second of subjects.slice(index + 1))
      scenarios.push(inOrder(first, second), inOrder(second, first))
  return scenarios
}

/** Whether the server accepts an object, by its schema and rules. */
export type Validator = (kind: Kind, object: JsonObject) => Promise<boolean>

async function subjectOf(kind: Kind, samples: readonly Sample[], isValid: Validator): Promise<Subject> {
  const sample = samples.find(each => each.kind === kind.kind && each.apiVersion === apiVersionOf(kind))
  const { apiVersion: _, kind: __, metadata, status: ___, ...fields }: Partial<Sample> = sample ?? {}
  const schema = ownFields(kind.schema())
  const base = sample ? (fields as JsonObject) : isCustom(kind) ? baseOf(schema) : undefined
  const { annotations, labels } = metadata ?? {}
  const extra = { ...(annotations && { annotations }), ...(labels && { labels }) }
  if (!base) return { kind, variants: [], extra }
  const alternatives = isCustom(kind) ? changesOf(schema).filter(change => !isPresent(base, change)) : []
  const variants: JsonObject[] = []
  for (const variant of [
    base,
    ...alternatives.slice(0, mostVariants).map(change => withChange(base, change)),
  ])
    if (await isValid(kind, { ...variant, metadata: { name: 'a', ...extra } })) variants.push(variant)
  return { kind, variants, extra }
}

/** Built-in types have names; their objects are only made from samples. */
const isCustom = (kind: Kind): boolean =>
  'validate' in kind || (kind.group.includes('.') && !kind.group.endsWith('.k8s.io'))

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

type Step = Pick<Action, 'action' | 'wait'> & {
  readonly name?: string
  readonly namespace?: string
  readonly variant?: number
}

function act(
  { kind, variants, extra }: Subject,
  { variant, name = 'a', namespace = 'default', ...step }: Step,
): Action {
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
    { action: 'create', variant: 0, wait: 'settle' },
    { action: 'change', variant: 1, wait: 'settle' },
    { action: 'create', name: 'b', variant: 1, wait: 'settle' },
    { action: 'delete', wait: 'settle' },
    { action: 'create', variant: 2, wait: 'settle' },
    { action: 'delete', name: 'b', wait: 'settle' },
  ]
  return {
    name: `${subject.kind.kind}: create, change, delete, create again`,
    actions: steps.map(step => act(subject, step)),
  }
}

/** One change after the other, back to the first, and down to the last. */
function changes(subject: Subject): GeneratedScenario {
  const count = Math.min(mostChanges, subject.variants.length - 1)
  const visited = [...Array.from({ length: count }, (_, index) => index + 1), 0, 1]
  const steps: Step[] = [
    { action: 'create', variant: 0, wait: 'settle' },
    ...visited.map((variant): Step => ({ action: 'change', variant, wait: 'settle' })),
  ]
  return {
    name: `${subject.kind.kind}: change every field, and back`,
    actions: steps.map(step => act(subject, step)),
  }
}

/** Everything again before the operator has settled. */
function hurry(subject: Subject): GeneratedScenario {
  const steps: Step[] = [
    { action: 'create', variant: 0, wait: 20 },
    { action: 'change', variant: 1, wait: 30 },
    { action: 'change', variant: 2, wait: 1_500 },
    { action: 'delete', wait: 10 },
    { action: 'create', variant: 1, wait: 'settle' },
  ]
  return {
    name: `${subject.kind.kind}: in a hurry`,
    actions: steps.map(step => act(subject, step)),
  }
}

function namesakes(subject: Subject): GeneratedScenario {
  const namespace = otherNamespace
  const steps: Step[] = [
    { action: 'create', variant: 0, wait: 'settle' },
    { action: 'create', namespace, variant: 1, wait: 'settle' },
    { action: 'change', namespace, variant: 2, wait: 'settle' },
    { action: 'delete', wait: 'settle' },
    { action: 'change', namespace, variant: 0, wait: 'settle' },
  ]
  return {
    name: `${subject.kind.kind}: the same name in two namespaces`,
    actions: steps.map(step => act(subject, step)),
  }
}

/** The most objects of which each gets a value of its own. */
const mostObjects = 12

/** Every value, each in an object of its own that first had the simplest one; or the other way round. */
function everyValue(subject: Subject, direction: 'there' | 'back'): GeneratedScenario {
  const isThere = direction === 'there'
  const indexes = subject.variants.slice(1, 1 + mostObjects).map((_, index) => index + 1)
  const all = (action: Action['action'], variantOf: (index: number) => number): Action[] =>
    indexes.map(index =>
      act(subject, {
        action,
        name: `v${index}`,
        variant: variantOf(index),
        wait: index === indexes.length ? 'settle' : 100,
      }),
    )
  const [first, second] = isThere ? [() => 0, (index: number) => index] : [(index: number) => index, () => 0]
  return {
    name: `${subject.kind.kind}: ${isThere ? 'every value' : 'and back'}`,
    actions: [...all('create', first), ...all('change', second)],
  }
}

function inOrder(first: Subject, second: Subject): GeneratedScenario {
  return {
    name: `${first.kind.kind} before ${second.kind.kind}`,
    actions: [
      act(first, { action: 'create', variant: 0, wait: 'settle' }),
      act(second, { action: 'create', variant: 0, wait: 'settle' }),
      act(first, { action: 'change', variant: 1, wait: 'settle' }),
      act(first, { action: 'delete', wait: 'settle' }),
    ],
  }
}
