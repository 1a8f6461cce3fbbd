/** A node:test reporter: one JSON line for each test that ended, suites left out. Read by `run-file.ts`. */
import type { TestEvent } from 'node:test/reporters'
import { inspect } from 'node:util'
import type { TestLine } from './run-file.ts'

export default async function* report(source: AsyncIterable<TestEvent>): AsyncGenerator<string, void> {
  const path: string[] = []
  for await (const event of source) {
    if (event.type === 'test:start') {
      path.length = event.data.nesting
      path.push(event.data.name)
    }
    if (event.type !== 'test:pass' && event.type !== 'test:fail') continue
    const { data } = event
    const isSuite = data.details.type === 'suite'
    const failedByItself =
      event.type === 'test:fail' && failureType(event.data.details.error) !== 'subtestsFailed'
    if (isSuite && !failedByItself) continue
    const line: TestLine = {
      name: [...path.slice(0, data.nesting), data.name].join(' > '),
      ms: data.details.duration_ms,
      skipped: data.skip !== undefined || data.todo !== undefined,
      ...(failedByItself ? { failure: describe(event.data.details.error) } : {}),
      ...(event.type === 'test:fail' && !failedByItself ? { failure: 'a subtest failed' } : {}),
    }
    yield `${JSON.stringify(line)}\n`
  }
}

const failureType = (error: Error): unknown => (error as { failureType?: unknown }).failureType

/** The runner wraps what the test threw; that is what matters. */
function describe(error: Error): string {
  const thrown = error.cause ?? error
  return thrown instanceof Error && thrown.stack && thrown.name !== 'AssertionError'
    ? inspect(thrown)
    : thrown instanceof Error
      ? (thrown.stack ?? thrown.message)
      : inspect(thrown)
}
