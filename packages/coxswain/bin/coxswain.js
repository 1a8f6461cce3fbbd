#!/usr/bin/env node
// JavaScript, so that starting from source loads no TypeScript compiler: everything else comes out of the compile cache.
// Syntax that every Node can parse, up to the import: an old version prints which one is required.
import fs from 'node:fs'
import module from 'node:module'
import url from 'node:url'

const oldest = 24
if (Number(process.versions.node.split('.')[0]) < oldest) {
  process.stderr.write(
    `coxswain: Node.js ${oldest} or later is required, but this is ${process.versions.node}\n`,
  )
  process.exit(2)
}
const { directory } = module.enableCompileCache()
if (directory !== undefined) process.env.NODE_COMPILE_CACHE ??= directory // worker threads read it
const bundle = new URL('../bundle/coxswain.js', import.meta.url)
if (loadsNoModules(process.argv.slice(2)) && fs.existsSync(bundle)) {
  module.createRequire(import.meta.url)(url.fileURLToPath(bundle))
} else {
  const { resolveOnce } = await import('@coxswain/cli/resolve-once')
  resolveOnce()
  const { main } = await import('@coxswain/cli')
  await main(process.argv)
}

/** Whether a command imports no file of the user. Files that import coxswain need the packages, which the bundle is a copy of. */
function loadsNoModules([command, ...args]) {
  if (command === 'up') return !args.some(arg => /^--(operator|scheduler-plugin)(=|$)/.test(arg))
  return ['assets', 'cluster', 'envtest', 'kubeconfig', 'store'].includes(command)
}
