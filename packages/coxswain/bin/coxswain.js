#!/usr/bin/env node
// JavaScript, so that starting from source loads no TypeScript compiler: everything else comes out of the compile cache.
// In the words that any Node can read, up to the import: an old one is told what is needed.
import module from 'node:module'

const oldest = 24
if (Number(process.versions.node.split('.')[0]) < oldest) {
  process.stderr.write(
    `coxswain: this is Node ${process.versions.node}, and Node ${oldest} or later is needed\n`,
  )
  process.exit(2)
}
const { directory } = module.enableCompileCache()
if (directory !== undefined) process.env.NODE_COMPILE_CACHE ??= directory // worker threads read it
const { main } = await import('@coxswain/cli')
await main(process.argv)
