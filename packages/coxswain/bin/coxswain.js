#!/usr/bin/env node
// JavaScript, so that starting from source loads no TypeScript compiler: everything else comes out of caches.
import { enableCompileCache } from 'node:module'
import { useModuleCache } from './module-cache.js'

const { directory } = enableCompileCache()
if (directory !== undefined) process.env.NODE_COMPILE_CACHE ??= directory // worker threads read it
useModuleCache(new URL('../..', import.meta.url).href)
const { main } = await import('@coxswain/cli')
await main(process.argv)
