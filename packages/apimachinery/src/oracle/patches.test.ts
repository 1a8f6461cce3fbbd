/** The recorded answers of upstream's strategicpatch and managedfields packages (`npm run oracle:record`), compared with ours. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  type ApplyAnswer,
  type ApplyQuestion,
  answerApply,
  isSameApply,
} from '../test-support/answer-apply.ts'
import {
  answerStrategic,
  isSameStrategic,
  type StrategicAnswer,
  type StrategicQuestion,
} from '../test-support/answer-strategic.ts'
import { readRecording } from '../test-support/fixtures.ts'

describe('patches recorded from upstream', () => {
  it('agree on strategic merge: applied, made of two objects and made of three', () => {
    const cases = readRecording<StrategicQuestion, StrategicAnswer[]>('strategic')
    assert.ok(cases.length >= 2000)
    for (const op of ['apply', 'two', 'three'])
      assert.ok(cases.filter(({ question }) => question.op === op).length > 300)
    for (const { question, answer } of cases) {
      const before = JSON.stringify(question)
      const ours = answerStrategic(question)
      assert.ok(
        isSameStrategic(ours, answer),
        `${before}\nupstream ${JSON.stringify(answer)}\nours ${JSON.stringify(ours)}`,
      )
      assert.equal(JSON.stringify(question), before, 'inputs are never changed')
    }
  })

  it('agree on server-side apply and updates: objects, managers, conflicts, versions', () => {
    const cases = readRecording<ApplyQuestion, ApplyAnswer[][]>('apply')
    assert.ok(cases.length >= 2000)
    assert.ok(cases.filter(({ answer }) => answer[0]!.some(step => step.causes !== undefined)).length > 200)
    for (const { question, answer } of cases) {
      const ours = answerApply(question)
      assert.ok(
        isSameApply(ours, answer),
        `${JSON.stringify(question)}\nupstream ${JSON.stringify(answer)}\nours ${JSON.stringify(ours)}`,
      )
    }
  })
})
