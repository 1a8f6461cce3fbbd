#!/usr/bin/env node
import { enableCompileCache } from 'node:module'

enableCompileCache()
const { main } = await import('../src/main.ts')
await main(process.argv)
