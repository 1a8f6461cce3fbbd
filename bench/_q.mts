import { runBench, formatTable } from './harness.ts'
import { jsonAndSchemaCases } from './apimachinery/json-and-schema.ts'
console.log(formatTable('x', await runBench({title:'x',rounds:9,cases:jsonAndSchemaCases().slice(0,3)})))
