#!/usr/bin/env node
// JavaScript, so that starting from source loads no TypeScript compiler: everything else comes out of the compile cache.
// Syntax that every Node can parse, up to the import: an old version prints which one is required.
import module from 'node:module'

const oldest = 24
if (Number(process.versions.node.split('.')[0]) < oldest) {
  process.stderr.write(
    `coxswain: Node.js ${oldest} or later is required, but this is ${process.versions.node}\n`,
  )
  process.exit(2)
}
const { directory } = module.enableCompileCache()
if (directory !== undefined) process.env.NODE_COMPILE_CACHE ??= directory // worker threads read it
const { resolveOnce } = await import('@coxswain/cli/resolve-once')
resolveOnce()
const { main } = await import('@coxswain/cli')
await main(process.argv)
