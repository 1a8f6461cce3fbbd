/** The recorded answers of upstream's Go packages (`npm run oracle:record`), compared with ours. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { answerQuantity } from './quantity.ts'
import { answerSelector } from './selectors.ts'
import { answerTime } from './times.ts'
import { answerValidation } from './validation.ts'

interface Recording<Question> {
  readonly upstream: string
  readonly cases: readonly { readonly question: Question; readonly answer: unknown }[]
}

function read<Question>(name: string): Recording<Question> {
  const file = new URL(`../../fixtures/${name}.json.gz`, import.meta.url)
  return JSON.parse(gunzipSync(readFileSync(file)).toString('utf8'))
}

function compare<Question>(name: string, answer: (question: Question) => unknown): void {
  const { cases } = read<Question>(name)
  assert.ok(cases.length >= 1000, `${name} has only ${cases.length} cases`)
  for (const { question, answer: expected } of cases) {
    const ours = JSON.parse(JSON.stringify(answer(question)))
    assert.deepEqual(ours, expected, JSON.stringify(question))
  }
}

describe('answers recorded from upstream', () => {
  it('agree on parsing, canonical forms, comparison, arithmetic and rounding of quantities', () => {
    compare('quantity', answerQuantity)
  })

  it('agree on label and field selectors: errors, matches, canonical texts', () => {
    compare('selectors', answerSelector)
  })

  it('agree on times and durations', () => {
    compare('times', answerTime)
  })

  it('agree on names, labels, metadata, ports and percentages', () => {
    compare('validation', answerValidation)
  })
})
