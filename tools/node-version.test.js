// JavaScript, because a Node that is too old finds no other tests: `node --test` would report success without one.
import assert from 'node:assert/strict'
import { test } from 'node:test'

const oldest = 24

test(`Node ${oldest} or later runs the tests`, () => {
  const { node } = process.versions
  const problem = `Node.js ${oldest} or later is required, but this is ${node}; start through npm (npm test), or with PATH=$PWD/node_modules/.bin:$PATH`
  assert.ok(Number(node.split('.')[0]) >= oldest, problem)
})
