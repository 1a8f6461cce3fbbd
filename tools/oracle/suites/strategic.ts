import {
  answerStrategic,
  isSameStrategic,
  type StrategicAnswer,
  type StrategicQuestion,
} from '../../../packages/apimachinery/src/test-support/answer-strategic.ts'
import { readSchemas } from '../../../packages/apimachinery/src/test-support/fixtures.ts'
import { strategicCases } from '../strategic-cases.ts'
import { defineSuite, type Suite } from '../suite.ts'

export const strategicSuite: Suite = defineSuite<StrategicQuestion>({
  name: 'strategic',
  command: 'strategic',
  fixture: 'packages/apimachinery/fixtures/strategic.json.gz',
  count: 3000,
  generate: (random, count) =>
    strategicCases(random, 2 * count, readSchemas())
      .filter(isWellFormed)
      .slice(0, count),
  answer: answerStrategic,
  isSame: (ours, upstream) => isSameStrategic(ours as StrategicAnswer, upstream as StrategicAnswer[]),
})

/** What upstream makes of a list of scalars that repeats itself depends on the spare capacity of a Go slice. */
function isWellFormed(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (!Array.isArray(value)) return Object.values(value).every(isWellFormed)
  const scalars = value.filter(item => typeof item !== 'object')
  return new Set(scalars).size === scalars.length && value.every(isWellFormed)
}
