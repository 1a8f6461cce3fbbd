import type { BenchDefinition } from '../harness.ts'
import { applyCases } from './apply.ts'
import { jsonAndSchemaCases } from './json-and-schema.ts'

export const bench: BenchDefinition = {
  title: 'apimachinery: reading, checking and importing, beside JSON.parse, ajv and a bare Node start',
  rounds: 7,
  cases: async stack => [...(await jsonAndSchemaCases(stack)), ...applyCases()],
}
