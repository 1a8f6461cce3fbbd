#!/usr/bin/env node
// JavaScript, so that starting from source loads no TypeScript compiler: everything else comes out of the compile cache.
import { enableCompileCache } from 'node:module'

const { directory } = enableCompileCache()
if (directory !== undefined) process.env.NODE_COMPILE_CACHE ??= directory // worker threads read it
const { main } = await import('@coxswain/cli')
await main(process.argv)
