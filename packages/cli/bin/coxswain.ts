#!/usr/bin/env node
import { enableCompileCache, flushCompileCache } from 'node:module'

// Sources are TypeScript: compiled once, then taken from the cache, in worker threads too.
const { directory } = enableCompileCache()
if (directory !== undefined) process.env.NODE_COMPILE_CACHE ??= directory
const { main } = await import('../src/main.ts')
await main(process.argv)
flushCompileCache()
