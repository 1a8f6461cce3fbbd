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
  generate: (random, count) => strategicCases(random, count, readSchemas()),
  answer: answerStrategic,
  isSame: (ours, upstream) => isSameStrategic(ours as StrategicAnswer, upstream as StrategicAnswer[]),
})
