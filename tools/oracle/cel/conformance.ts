/**
 * Makes packages/cel/fixtures/conformance.json.gz of the test cases of cel-spec, as the npm package @bufbuild/cel-spec has them:
 *
 *   npm pack @bufbuild/cel-spec && tar xzf bufbuild-cel-spec-*.tgz && node conformance.ts package
 */
import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'

interface Suite {
  readonly name: string
  readonly suites?: readonly Suite[]
  readonly tests?: readonly { readonly original: object; readonly type?: string }[]
}

const [folder = '.'] = process.argv.slice(2)
const file = pathToFileURL(resolve(folder, 'dist/esm/testdata/conformance.js')).href
const { tests } = (await import(file)) as { tests: Suite }
const cases = (tests.suites ?? []).flatMap(suite =>
  (suite.suites ?? []).flatMap(section =>
    (section.tests ?? []).map(test => ({
      suite: suite.name,
      section: section.name,
      ...test.original,
      ...(test.type === undefined ? {} : { type: test.type }),
    })),
  ),
)
const target = new URL('../../../packages/cel/fixtures/conformance.json.gz', import.meta.url)
writeFileSync(target, gzipSync(JSON.stringify(cases), { level: 9 }))
process.stdout.write(`${cases.length} cases\n`)
