#!/usr/bin/env node
// kubectl calls kubectl_complete-coxswain for the words after `kubectl coxswain`.
const { main } = await import('@coxswain/cli')
const [node, script, ...words] = process.argv
await main([node, script, '__complete', ...words])
