import {
  type ApplyAnswer,
  type ApplyQuestion,
  answerApply,
  isSameApply,
} from '../../../packages/apimachinery/src/test-support/answer-apply.ts'
import { readSchemas } from '../../../packages/apimachinery/src/test-support/fixtures.ts'
import { applyCases } from '../apply-cases.ts'
import { defineSuite, type Suite } from '../suite.ts'

export const applySuite: Suite = defineSuite<ApplyQuestion>({
  name: 'apply',
  command: 'apply',
  fixture: 'packages/apimachinery/fixtures/apply.json.gz',
  count: 2400,
  generate: (random, count) => applyCases(random, count, readSchemas()),
  answer: answerApply,
  isSame: (ours, upstream) => isSameApply(ours as ApplyAnswer[], upstream as ApplyAnswer[][]),
})
