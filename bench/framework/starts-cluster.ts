/** Starts a cluster in its own process and asks it something. */
import { Namespace } from '@coxswain/api/core/v1'
import { startCluster } from '@coxswain/testing'
import { report, startStopwatch } from './task.ts'

const stop = startStopwatch()
const cluster = await startCluster()
const { items } = await cluster.client.list(Namespace)
report(stop(items.length))
await cluster[Symbol.asyncDispose]()
process.exit(0)
