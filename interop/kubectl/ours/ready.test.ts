import { describe, it } from 'node:test'
import { startServer } from '../../support/coxswain.ts'
import { createKubectl, succeeds } from '../../support/kubectl.ts'

/** How many servers are started; 50 in torture. */
const starts = Math.min(50, Number(process.env.TORTURE_RUNS ?? 2))

describe('the ready line of coxswain up', () => {
  it(`means that kubectl run succeeds at once, in ${starts} starts`, async () => {
    for (let start = 0; start < starts; start++) {
      await using server = await startServer('--storage', 'memory')
      const kubectl = createKubectl('1.36', server.kubeconfig)
      await succeeds(kubectl('run', 'first', '--image=busybox', '--restart=Never', '--', 'true'))
    }
  })
})
