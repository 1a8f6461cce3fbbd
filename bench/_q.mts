import { runBench, formatTable } from './harness.ts'
import { jsonAndSchemaCases } from './apimachinery/json-and-schema.ts'
await using stack = new AsyncDisposableStack()
console.log(formatTable('x', await runBench({title:'x',rounds:15,cases:jsonAndSchemaCases(stack).slice(2,3)})))
