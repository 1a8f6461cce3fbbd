import assert from 'node:assert/strict'
import { it } from 'node:test'
import { testCommands } from './test-commands.ts'
import { findingsWith } from './test-support/plant.ts'

const manifest = (scripts: Record<string, string>) => ({ 'package.json': JSON.stringify({ scripts }) })

it('catches a test that no command runs', async () => {
  const found = await findingsWith(testCommands, {
    'packages/kit/wait.test.ts': '',
    'interop/gone/a.test.ts': '',
    'docs/b.test.js': '',
  })
  const message = 'no command runs this test: see tools/test/test-files.ts and tools/suites.ts'
  assert.deepEqual(found, [
    `error docs/b.test.js ${message}`,
    `error interop/gone/a.test.ts ${message}`,
    `error packages/kit/wait.test.ts ${message}`,
  ])
})

it('catches a suite without a script, without a test, and a script without a suite', async () => {
  const found = await findingsWith(testCommands, {
    ...manifest({ 'test:go': 'node tools/suite.ts go', 'test:gone': 'node tools/suite.ts gone' }),
    'interop/kubectl/get.test.ts': '',
  })
  assert.deepEqual(found, [
    'error interop/kubectl/get.test.ts no npm script test:kubectl runs this suite',
    'error package.json test:go runs a suite without a test in interop/go',
    'error package.json test:gone runs a suite that tools/suites.ts does not have',
  ])
})

it('lets tests of npm test and of suites pass', async () => {
  const found = await findingsWith(testCommands, {
    ...manifest({ 'test:kubectl': 'node tools/suite.ts kubectl', suites: 'node tools/suite.ts --list' }),
    'interop/kubectl/ours/get.test.ts': '',
    'packages/kit/src/deep/wait.test.ts': '',
    'packages/kit/type-tests/size.test.ts': '',
    'tools/version.test.js': '',
    'node_modules/other/a.test.js': '',
  })
  assert.deepEqual(found, [])
})
