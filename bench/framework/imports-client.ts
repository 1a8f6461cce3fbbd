/** Imports the modules it is given, or @kubernetes/client-node when there are none. */
import { pathToFileURL } from 'node:url'
import { importPeer } from '../peers.ts'
import { clientNodeVersion } from './peer-versions.ts'
import { report, residentBytes, startStopwatch } from './task.ts'

const files = process.argv.slice(2)
const before = residentBytes()
const stop = startStopwatch()
if (files.length === 0) await importPeer('@kubernetes/client-node', clientNodeVersion)
for (const file of files) await import(pathToFileURL(file).href)
report({ ...stop(1), resident: residentBytes() - before })
process.exit(0)
