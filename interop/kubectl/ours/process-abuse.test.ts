import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { execute, type RunningServer, root, startServer } from '../../support/coxswain.ts'
import { createClusterSession, type Session } from '../session.ts'

// Neither a Pod nor a client that talks to it can harm the server that runs it.
let server: RunningServer
let session: Session
before(async () => {
  server = await startServer('--runtime', 'process', '--isolation', 'none', '--nodes', '1')
  session = await createClusterSession(server, '1.36', 'abuse')
  const file = join(session.directory, 'pods.json')
  writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: pods }))
  await session.ok(`apply -f ${file}`)
})
after(async () => {
  session?.[Symbol.dispose]()
  await server?.[Symbol.asyncDispose]()
})

const podOf = (name: string, script: string, spec: object = {}, container: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: {
    terminationGracePeriodSeconds: 1,
    restartPolicy: 'Never',
    containers: [{ name: 'c', image: 'busybox', command: ['sh', '-c', script], ...container }],
    ...spec,
  },
})

const pods = [
  podOf('endless', 'exec yes "all work and no play makes Jack a dull boy"'),
  podOf('sleeper', 'exec sleep 600'),
  podOf('trap', 'f=$(readlink $COXSWAIN_ROOT/dev/termination-log); rm $f; mkfifo $f; echo set'),
  podOf(
    'greedy',
    'head -c 3000000 /dev/zero > /scratch/x; sleep 600',
    { hostAliases: [{ ip: '10.0.0.1' }], volumes: [{ name: 'v', emptyDir: { sizeLimit: '1Mi' } }] },
    { volumeMounts: [{ name: 'v', mountPath: '/scratch' }] },
  ),
]

const program = join(root, '.cache/bin/kubectl-1.36')
const residentMiB = () =>
  Number(/^VmRSS:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1]) / 1024

/** A line of the shell, with KUBECTL for what it is. */
async function shell(line: string): Promise<string> {
  const environment = { KUBECONFIG: session.kubeconfig, HOME: session.directory }
  const { stdout } = await execute('sh', ['-c', line.replaceAll('KUBECTL', program)], environment)
  return stdout.trim()
}

describe('a server whose pods are processes', () => {
  it('goes on when a pod leaves a trap where its last words are expected', async () => {
    await session.ok('wait pod/trap --for=jsonpath={.status.phase}=Succeeded --timeout=120s')
    assert.equal(await session.ok('logs trap'), 'set\n')
  })

  it('does not grow with what slow readers and deaf commands leave', async () => {
    await session.ok('wait pod/endless pod/sleeper --for=condition=Ready --timeout=120s')
    const before = residentMiB()
    const [log, output] = await Promise.all([
      shell('timeout 60 KUBECTL logs -f endless | (sleep 5; head -c 5)'),
      shell('timeout 60 KUBECTL exec sleeper -- yes | (sleep 5; head -c 5)'),
      shell('head -c 150000000 /dev/zero | timeout 60 KUBECTL exec -i sleeper -- sleep 5'),
    ])
    assert.deepEqual([log, output], ['all w', 'y\ny\ny'])
    const grown = residentMiB() - before
    assert.ok(grown < 150, `${Math.round(grown)} MiB more`)
    assert.equal((await session.ok('logs endless --tail=2')).split('\n').length, 3)
  })

  it('gives everything to a reader that waits for longer than the command runs', async () => {
    const length = await shell('KUBECTL exec sleeper -- head -c 9000000 /dev/zero | (sleep 3; wc -c)')
    assert.equal(length, '9000000')
  })

  it('evicts a pod that takes more room than it may, and says what it cannot give', async () => {
    await session.ok('wait pod/greedy --for=jsonpath={.status.reason}=Evicted --timeout=120s')
    const message = await session.ok('get pod greedy -o jsonpath={.status.message}')
    assert.equal(message, 'Usage of EmptyDir volume "v" exceeds the limit "1Mi". ')
    const events = await session.ok(
      'get events --field-selector involvedObject.name=greedy -o jsonpath={.items[*].message}',
    )
    assert.match(events, /no effect on this node, whose containers are processes: hostAliases/)
  })
})
