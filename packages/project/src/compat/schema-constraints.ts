import { deepEqual } from '@coxswain/apimachinery/json'
import type { Schema, ValidationRule } from '@coxswain/apimachinery/schema'

/** A change of one node: what breaks, and whether stored objects with the old value survive updates. */
export interface Tightening {
  readonly problem: string
  readonly remedy: string
  /** Kubernetes 1.33 and later keep unchanged values that only the new schema rejects. */
  readonly isRatcheted: boolean
}

type NumericKeyword =
  | 'minimum'
  | 'maximum'
  | 'minLength'
  | 'maxLength'
  | 'minItems'
  | 'maxItems'
  | 'minProperties'
  | 'maxProperties'

const lower: readonly NumericKeyword[] = ['minimum', 'minLength', 'minItems', 'minProperties']
const upper: readonly NumericKeyword[] = ['maximum', 'maxLength', 'maxItems', 'maxProperties']

const keepBound = 'Keep the old limit in this version, and tighten it in a new one'

/** How the value rules of a node became tighter, those of its fields and items apart. */
export function findTightenings(old: Schema, next: Schema): Tightening[] {
  return [
    ...tighterBounds(old, next),
    ...tighterText(old, next),
    ...tighterEnum(old, next),
    ...newRules(old['x-kubernetes-validations'] ?? [], next['x-kubernetes-validations'] ?? []),
    ...changedCombinations(old, next),
  ]
}

function tighterBounds(old: Schema, next: Schema): Tightening[] {
  const found: Tightening[] = []
  const add = (problem: string): void => {
    found.push({ problem, remedy: keepBound, isRatcheted: true })
  }
  for (const [keywords, isTighter] of [
    [lower, (was: number, is: number) => is > was],
    [upper, (was: number, is: number) => is < was],
  ] as const) {
    for (const keyword of keywords) {
      const was = old[keyword]
      const is = next[keyword]
      if (is === undefined) continue
      if (was === undefined) add(`${keyword} ${is} is new`)
      else if (isTighter(was, is)) add(`${keyword} was ${was} and is ${is}`)
    }
  }
  for (const [flag, bound] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const)
    if (next[flag] === true && old[flag] !== true && old[bound] === next[bound])
      add(`${flag} is new: ${next[bound]} itself is rejected`)
  const { multipleOf } = next
  if (multipleOf !== undefined && !(old.multipleOf !== undefined && old.multipleOf % multipleOf === 0))
    add(`multipleOf ${multipleOf} is new`)
  if (next.uniqueItems === true && old.uniqueItems !== true) add('uniqueItems is new')
  return found
}

function tighterText(old: Schema, next: Schema): Tightening[] {
  const found: Tightening[] = []
  for (const keyword of ['pattern', 'format'] as const) {
    const was = old[keyword]
    const is = next[keyword]
    if (is === undefined || is === was) continue
    found.push({
      problem:
        was === undefined
          ? `${keyword} ${is} is new`
          : `${keyword} was ${was} and is ${is}: values that match only the old one are rejected`,
      remedy: `Keep the old ${keyword} in this version, or make sure that the new one accepts every old value`,
      isRatcheted: true,
    })
  }
  return found
}

function tighterEnum(old: Schema, next: Schema): Tightening[] {
  if (next.enum === undefined) return []
  const remedy = 'Keep the values in this version; stop using them, and remove them in a new version'
  if (old.enum === undefined)
    return [{ problem: 'enum is new: other values are rejected', remedy, isRatcheted: true }]
  const gone = old.enum.filter(value => !next.enum?.some(other => deepEqual(value, other)))
  if (gone.length === 0) return []
  const values = gone.map(value => JSON.stringify(value)).join(', ')
  return [
    {
      problem: `${values} ${gone.length === 1 ? 'is no value' : 'are no values'} of the enum any more`,
      remedy,
      isRatcheted: true,
    },
  ]
}

function newRules(old: readonly ValidationRule[], next: readonly ValidationRule[]): Tightening[] {
  const known = new Set(old.map(ruleKey))
  return next
    .filter(rule => !known.has(ruleKey(rule)))
    .map(({ rule }) => ({
      problem: `the rule ${rule} is new: objects that break it are rejected`,
      remedy: 'Add the rule in a new version, or let it accept what was valid before',
      isRatcheted: !/\boldSelf\b/.test(rule),
    }))
}

/** `optionalOldSelf` makes a transition rule count for new objects, too. */
function ruleKey({ rule, optionalOldSelf }: ValidationRule): string {
  return `${optionalOldSelf === true} ${rule}`
}

function changedCombinations(old: Schema, next: Schema): Tightening[] {
  return (['allOf', 'anyOf', 'oneOf', 'not'] as const)
    .filter(keyword => next[keyword] !== undefined && !deepEqual(old[keyword], next[keyword]))
    .map(keyword => ({
      problem: `${keyword} ${old[keyword] === undefined ? 'is new' : 'is different'}: values that only the old schema accepts are rejected`,
      remedy: `Keep ${keyword} in this version, or make sure that the new one accepts every old value`,
      isRatcheted: false,
    }))
}
