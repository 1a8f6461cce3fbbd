import type { ObjectMeta, OwnerReference } from '@coxswain/apimachinery/meta'
import type { Random } from '@coxswain/kit'
import {
  answerValidation,
  type ValidationQuestion,
} from '../../../packages/apimachinery/src/oracle/validation.ts'
import { chance, defineSuite, pick, type Suite } from '../suite.ts'

const alphabet = [
  ...'abcxyz019',
  ...'abcxyz019',
  ...'ABZ',
  ...'-._/',
  '%',
  '*',
  ' ',
  '=',
  '"',
  '\\',
  '<',
  '\t',
  '\x7f',
  'é',
  'ß',
  '日',
  '😀',
  '\u00ad',
  '\u200b',
  '\u0007',
]
const whole = [
  '',
  '.',
  '..',
  '...',
  '..a',
  'a..b',
  'a.b.c',
  '*.example.com',
  '*.',
  'example.com/name',
  '/',
  'a/',
  '/b',
  'a/b/c',
  '100%',
  '%',
  '-',
  'A',
  '_a._b',
  'my-name',
  'x-',
  'http',
  '8080',
  'kube-dns',
  'MY_VAR',
  '1VAR',
  'a--b',
]

function text(random: Random): string {
  if (chance(random, 15)) return pick(random, whole)
  if (chance(random, 8))
    return 'a'.repeat(pick(random, [14, 15, 16, 62, 63, 64, 127, 128, 129, 252, 253, 254]))
  if (chance(random, 40)) {
    const parts = Array.from({ length: random.below(3) + 1 }, () => random.suffix(random.below(5) + 1))
    return parts.join(pick(random, ['.', '-', '/', '_', '..', '', '.-']))
  }
  return Array.from({ length: random.below(9) }, () => pick(random, alphabet)).join('')
}

function reference(random: Random): OwnerReference {
  return {
    apiVersion: pick(random, ['v1', 'apps/v1', '', 'a/b/c', '/']),
    kind: pick(random, ['Pod', 'Event', 'Deployment', '']),
    name: pick(random, ['a', '', 'x<y>']),
    uid: pick(random, ['1', '2', '']),
    ...(chance(random, 50) && { controller: chance(random, 80) }),
    ...(chance(random, 20) && { blockOwnerDeletion: true }),
  }
}

function maybe<T>(random: Random, percent: number, value: () => T): T | undefined {
  return chance(random, percent) ? value() : undefined
}

// At most one label and one annotation: upstream goes through maps in no certain order.
function meta(random: Random): ObjectMeta {
  const all = {
    name: maybe(random, 85, () => (chance(random, 60) ? 'web' : text(random))),
    generateName: maybe(random, 15, () => text(random)),
    namespace: maybe(random, 85, () => (chance(random, 80) ? 'default' : text(random))),
    uid: maybe(random, 50, () => pick(random, ['u1', 'u2'])),
    resourceVersion: maybe(random, 80, () => '7'),
    generation: maybe(random, 30, () => random.below(5) - 1),
    creationTimestamp: maybe(random, 30, () =>
      pick(random, ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z']),
    ),
    deletionTimestamp: maybe(random, 20, () => '2026-02-01T00:00:00Z'),
    deletionGracePeriodSeconds: maybe(random, 15, () => random.below(3)),
    labels: maybe(random, 50, () => ({ [chance(random, 60) ? 'app' : text(random)]: text(random) })),
    annotations: maybe(random, 40, () => ({
      [chance(random, 50) ? 'Note' : text(random)]: chance(random, 5) ? 'x'.repeat(262_144) : text(random),
    })),
    finalizers: maybe(random, 30, () =>
      Array.from({ length: random.below(4) }, () =>
        pick(random, ['orphan', 'foregroundDeletion', 'a/b', text(random)]),
      ),
    ),
    ownerReferences: maybe(random, 30, () =>
      Array.from({ length: random.below(4) }, () => reference(random)),
    ),
    managedFields: maybe(random, 15, () => [
      {
        manager: text(random),
        operation: pick(random, ['Apply', 'Update', 'Other', '']) as 'Apply',
        fieldsType: pick(random, ['FieldsV1', 'FieldsV2', '']) as 'FieldsV1',
        subresource: chance(random, 10) ? 's'.repeat(257) : 'status',
      },
    ]),
  }
  return JSON.parse(JSON.stringify(all)) as ObjectMeta
}

const octets = ['0', '1', '10', '255', '256', '007', '0', '192', '']
const groups = ['0', '0', '0', '1', 'ffff', 'FFFF', 'db8', '00ab', '00001', '12345', '', 'g']

function address(random: Random): string {
  const v4 = Array.from({ length: chance(random, 92) ? 4 : 3 + random.below(3) }, () =>
    pick(random, chance(random, 85) ? octets.slice(0, 4) : octets),
  ).join('.')
  if (chance(random, 45)) return v4
  if (chance(random, 15)) return `::ffff:${v4}`
  const list = (count: number): string =>
    Array.from({ length: count }, () => pick(random, chance(random, 90) ? groups.slice(0, 8) : groups)).join(
      ':',
    )
  if (chance(random, 35)) return list(chance(random, 90) ? 8 : 7)
  return `${list(random.below(5))}::${list(random.below(4))}${chance(random, 8) ? `:${v4}` : ''}`
}

function ip(random: Random): string {
  const suffix = chance(random, 60)
    ? `/${pick(random, ['0', '8', '24', '32', '33', '64', '96', '120', '128', '129', '024', '', 'x', '-1'])}`
    : ''
  return address(random) + suffix + (chance(random, 3) ? pick(random, [' ', '%eth0', '.', ':']) : '')
}

function selector(random: Random): NonNullable<ValidationQuestion['selector']> {
  return {
    matchLabels: chance(random, 50) ? { [text(random)]: text(random) } : {},
    matchExpressions: Array.from({ length: random.below(3) }, () => ({
      key: chance(random, 70) ? 'app' : text(random),
      operator: pick(random, ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', '']) as 'In',
      values: Array.from({ length: random.below(3) }, () => text(random)),
    })),
  }
}

function conditions(random: Random): NonNullable<ValidationQuestion['conditions']> {
  return Array.from({ length: random.below(3) + 1 }, () => ({
    type: pick(random, ['Ready', 'Ready', 'example.com/Ok', '', 'no good']),
    status: pick(random, ['True', 'False', 'Unknown', 'true', '']) as 'True',
    observedGeneration: random.below(4) - 1,
    ...((chance(random, 80) ? { lastTransitionTime: '2026-01-01T00:00:00Z' } : {}) as {
      lastTransitionTime: string
    }),
    reason: pick(random, [
      'Good',
      'A,B',
      'A:B',
      'A,',
      ',A',
      '',
      '1A',
      'a_',
      'x'.repeat(1025),
      'é',
      'A',
      'A b',
    ]),
    message: chance(random, 4) ? 'm'.repeat(32_769) : 'fine',
  }))
}

function question(random: Random): ValidationQuestion {
  switch (random.below(17)) {
    case 12:
    case 13:
    case 14:
      return { ip: ip(random) }
    case 15:
      return { selector: selector(random) }
    case 16:
      return { conditions: conditions(random) }
    case 0:
    case 1:
      return { meta: meta(random) }
    case 2:
    case 3:
      return { meta: meta(random), old: meta(random) }
    case 4: {
      const percent = pick(random, [
        '0%',
        '25%',
        '33%',
        '100%',
        '150%',
        '-10%',
        '%',
        '1.5%',
        'http',
        '10',
        'x%',
        '10%%',
        '99999999999999999999%',
        '+7%',
      ])
      return {
        port: chance(random, 30) ? random.below(100) - 10 : percent,
        total: pick(random, [0, 1, 3, 7, 10, 99, 1000]),
      }
    }
    case 5:
      return { number: pick(random, [-1, 0, 1, 80, 65535, 65536, random.below(70_000)]) }
    default:
      return { value: text(random) }
  }
}

export const validationSuite: Suite = defineSuite<ValidationQuestion>({
  name: 'validation',
  command: 'validation',
  fixture: 'packages/apimachinery/fixtures/validation.json.gz',
  count: 5000,
  generate: (random, count) => Array.from({ length: count }, () => question(random)),
  answer: answerValidation,
})
