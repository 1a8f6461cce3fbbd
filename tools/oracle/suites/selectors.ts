import type { Random } from '@coxswain/kit'
import { answerSelector, type SelectorQuestion } from '../../../packages/apimachinery/src/oracle/selectors.ts'
import { chance, defineSuite, pick, type Suite } from '../suite.ts'

const keys = ['app', 'tier', 'env', 'example.com/role', 'in', 'notin', 'x', 'generation', 'A.b_c-d']
const badKeys = [
  '-app',
  'a/b/c',
  '',
  'Example.com/x',
  `${'k'.repeat(64)}`,
  'ключ',
  '/x',
  'x/',
  'a@b',
  `${'p'.repeat(254)}/x`,
]
const values = ['web', 'db', '', '1', '10', '-5', 'in', 'notin', 'a.b', 'v1_2', '007', '9223372036854775808']
const badValues = ['-web', 'a b', `${'v'.repeat(64)}`, 'ü', 'a/b', 'x=y']
const operators = ['=', '==', '!=', '>', '<', '=!', '=>', '!', '<>', '===']
const noise = ['(', ')', ',', '!', '=', ' ', '\t', '\n', 'in', 'notin', 'x', '>', '<', '\0', '==', '!=', 'é']

function key(random: Random): string {
  return chance(random, 5) ? pick(random, badKeys) : pick(random, keys)
}

function value(random: Random): string {
  return chance(random, 5) ? pick(random, badValues) : pick(random, values)
}

function space(random: Random): string {
  return chance(random, 25) ? pick(random, [' ', '  ', '\t', '\r\n']) : ''
}

function requirement(random: Random): string {
  const name = key(random)
  switch (random.below(6)) {
    case 0:
      return name
    case 1:
      return `!${space(random)}${name}`
    case 2:
    case 3: {
      const list = Array.from(
        { length: random.below(4) },
        () => space(random) + value(random) + space(random),
      )
      const open = chance(random, 96) ? '(' : ''
      const close = chance(random, 96) ? ')' : ''
      return `${name} ${pick(random, ['in', 'notin', 'in', 'notin', 'IN'])}${space(random)} ${open}${list.join(',')}${close}`
    }
    default: {
      const operator = chance(random, 92) ? pick(random, operators.slice(0, 5)) : pick(random, operators)
      return `${name}${space(random)}${operator}${space(random)}${value(random)}`
    }
  }
}

function labelText(random: Random): string {
  if (chance(random, 10)) return Array.from({ length: random.below(8) }, () => pick(random, noise)).join('')
  const list = Array.from({ length: random.below(4) + (chance(random, 90) ? 1 : 0) }, () =>
    requirement(random),
  )
  return (
    list.join(chance(random, 95) ? `${space(random)},${space(random)}` : ',,') +
    (chance(random, 4) ? ',' : '')
  )
}

function labelSet(random: Random): Record<string, string> {
  const entries = Array.from({ length: random.below(5) }, () => [pick(random, keys), pick(random, values)])
  return Object.fromEntries(entries)
}

const fields = ['metadata.name', 'metadata.namespace', 'spec.nodeName', 'status.phase', 'a', '']
const fieldValues = ['x', '', 'Running', 'a\\,b', 'a\\=b', 'a\\\\b', 'a\\x', 'a\\', 'é', 'a=b', 'a!b', ' x ']

function fieldText(random: Random): string {
  const terms = Array.from({ length: random.below(4) + (chance(random, 90) ? 1 : 0) }, () => {
    const operator = chance(random, 95)
      ? pick(random, ['=', '==', '!='])
      : pick(random, ['', '!', '~', '===', '=!='])
    return pick(random, fields) + operator + pick(random, fieldValues)
  })
  return terms.join(',') + (chance(random, 5) ? ',' : '')
}

function fieldSet(random: Random): Record<string, string> {
  const entries = Array.from({ length: random.below(4) }, () => [
    pick(random, fields),
    pick(random, ['x', '', 'Running', 'a,b', 'a=b', 'a\\b', 'é', ' x ']),
  ])
  return Object.fromEntries(entries)
}

function object(random: Random): NonNullable<SelectorQuestion['object']> {
  // Upstream looks at matchLabels in no certain order, so that only one of them may be wrong.
  const labels: [string, string][] = chance(random, 10)
    ? [[key(random), value(random)]]
    : Array.from({ length: random.below(3) }, () => [pick(random, keys), pick(random, values)])
  const expressions = Array.from({ length: random.below(3) }, () => ({
    key: key(random),
    operator: pick(random, ['In', 'NotIn', 'Exists', 'DoesNotExist', 'In', 'NotIn', 'Gt', '']) as 'In',
    values: Array.from({ length: random.below(3) }, () => value(random)),
  }))
  return { matchLabels: Object.fromEntries(labels), matchExpressions: expressions }
}

function question(random: Random): SelectorQuestion {
  const count = random.below(4) + 1
  switch (random.below(10)) {
    case 0:
    case 1:
      return {
        fields: fieldText(random),
        key: pick(random, fields),
        sets: Array.from({ length: count }, () => fieldSet(random)),
      }
    case 2:
      return {
        unescape: Array.from({ length: random.below(6) }, () => pick(random, [...'\\,=ab', 'é'])).join(''),
      }
    case 3:
    case 4:
      return {
        object: object(random),
        key: pick(random, keys),
        sets: Array.from({ length: count }, () => labelSet(random)),
      }
    default:
      return {
        labels: labelText(random),
        key: pick(random, keys),
        sets: Array.from({ length: count }, () => labelSet(random)),
      }
  }
}

export const selectorSuite: Suite = defineSuite<SelectorQuestion>({
  name: 'selectors',
  command: 'selectors',
  fixture: 'packages/apimachinery/fixtures/selectors.json.gz',
  count: 4000,
  generate: (random, count) => Array.from({ length: count }, () => question(random)),
  answer: answerSelector,
})
