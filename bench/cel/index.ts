import type { Schema } from '@coxswain/apimachinery/schema'
import { compileExpression, schemaVariable } from '@coxswain/cel'
import type { BenchDefinition } from '../harness.ts'
import { importPeer } from '../peers.ts'

const schema: Schema = {
  type: 'object',
  properties: {
    replicas: { type: 'integer' },
    minReplicas: { type: 'integer' },
    maxReplicas: { type: 'integer' },
    name: { type: 'string', maxLength: 63 },
    items: {
      type: 'array',
      maxItems: 50,
      items: { type: 'object', properties: { name: { type: 'string' }, port: { type: 'integer' } } },
    },
  },
}

const self = {
  replicas: 3,
  minReplicas: 1,
  maxReplicas: 5,
  name: 'web-frontend',
  items: Array.from({ length: 20 }, (_, i) => ({ name: `item-${i}`, port: 8000 + i })),
}

/** The peers take JavaScript numbers for doubles; whole numbers are bigints to them. */
const peerSelf = {
  ...self,
  replicas: 3n,
  minReplicas: 1n,
  maxReplicas: 5n,
  items: self.items.map(item => ({ ...item, port: BigInt(item.port) })),
}

const expressions = {
  'a range': 'self.minReplicas <= self.replicas && self.replicas <= self.maxReplicas',
  'twenty items': 'self.items.all(i, i.port >= 8000 && i.port < 9000)',
  'a text': "self.name.startsWith('web') && size(self.name) < 63",
}

interface Marcbachmann {
  readonly Environment: new () => {
    registerVariable(name: string, type: string): unknown
    parse(source: string): (context: object) => unknown
  }
}

interface Bufbuild {
  readonly celEnv: () => unknown
  readonly parse: (source: string) => unknown
  readonly plan: (env: unknown, parsed: unknown) => (context: object) => unknown
}

const microseconds = () => {
  const { user, system } = process.cpuUsage()
  return user + system
}

/** Calls a second of the processor's time, which others on the machine do not change. */
function rate(call: () => unknown): number {
  const started = microseconds()
  let calls = 0
  for (let spent = 0; spent < 200_000; spent = microseconds() - started) {
    for (let i = 0; i < 100; i++, calls++) call()
  }
  return (calls * 1e6) / (microseconds() - started)
}

export const bench: BenchDefinition = {
  title: 'cel: expressions of validation rules, beside engines that count no cost',
  async cases() {
    const declared = schemaVariable(schema)
    if (!declared) throw new Error('the schema has no type')
    const variables = { self: declared }
    const marcbachmann = (await importPeer('@marcbachmann/cel-js', '8.0.0')) as Marcbachmann
    const bufbuild = (await importPeer('@bufbuild/cel', '0.6.1')) as Bufbuild
    const peer = new marcbachmann.Environment()
    peer.registerVariable('self', 'map')
    const env = bufbuild.celEnv()
    return Object.entries(expressions).flatMap(([name, source]) => {
      const compiled = compileExpression(source, { variables })
      if (!compiled.ok) throw new Error(compiled.message)
      const theirs = peer.parse(source)
      const [ours, expected] = [compiled.program.evaluate({ self }), theirs({ self: peerSelf })]
      if (!ours.ok || ours.value !== true || expected !== true) throw new Error(`${source} is not true`)
      return [
        {
          name: `evaluating ${name}`,
          unit: 'calls/s',
          measure: () => rate(() => compiled.program.evaluate({ self })),
          reference: {
            name: '@marcbachmann/cel-js 8.0.0',
            measure: () => rate(() => theirs({ self: peerSelf })),
          },
          goal: { of: 'ratio' as const, atLeast: 0.5 },
        },
        {
          name: `compiling ${name}`,
          unit: 'calls/s',
          measure: () => rate(() => compileExpression(source, { variables })),
          reference: {
            name: '@bufbuild/cel 0.6.1',
            measure: () => rate(() => bufbuild.plan(env, bufbuild.parse(source))),
          },
          goal: { of: 'ratio' as const, atLeast: 1 },
        },
      ]
    })
  },
}
