/**
 * `node tools/run.js PROGRAM.ts ARGUMENT...`: how every npm script starts. Plain JavaScript that any Node can read:
 * it says what to do when the preconditions do not hold, then runs the program in this process.
 */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const oldest = 24

function stop(problem, remedy) {
  process.stderr.write(`coxswain: ${problem}\n  ${remedy}\n`)
  process.exit(2)
}

if (!existsSync(`${root}node_modules`)) {
  stop('the dependencies are not installed', 'run: npm install')
}
if (Number(process.versions.node.split('.')[0]) < oldest) {
  const local = existsSync(`${root}node_modules/node/bin/node`)
  stop(
    `Node.js ${oldest} or later is required, but this is ${process.versions.node}`,
    local
      ? 'start through npm (npm test, npm start, npx coxswain): npm puts the Node of this repository first in PATH'
      : 'run: npm install --foreground-scripts (it installs a Node for this repository; install scripts must be allowed)',
  )
}

const program = process.argv[2]
if (!program) stop('no program to run', 'usage: node tools/run.js PROGRAM.ts ARGUMENT...')
const file = resolve(root, program)
process.argv.splice(1, 2, file)
await import(pathToFileURL(file).href)
