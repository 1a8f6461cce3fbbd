import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { execute, type Outcome, type RunningServer, root, startServer } from '../../support/coxswain.ts'
import { eventually } from '../../support/eventually.ts'
import { freePort } from '../../support/free-port.ts'
import { type KubectlVersion, kubectlVersions, succeeds } from '../../support/kubectl.ts'
import { createClusterSession, manifests, type Session } from '../session.ts'

// Containers that can be talked to are processes of this machine, which the reference has no node for.
let server: RunningServer
before(async () => {
  server = await startServer('--runtime', 'process', '--nodes', '2')
})
after(() => server[Symbol.asyncDispose]())

const programOf = (version: KubectlVersion) => join(root, `.cache/bin/kubectl-${version}`)

/** Runs kubectl with a terminal. Standard error is in the output, as on any terminal. */
function onTerminal(session: Session, version: KubectlVersion, command: string): Promise<Outcome> {
  const environment = { KUBECONFIG: session.kubeconfig, HOME: session.directory }
  return execute('script', ['-qec', `${programOf(version)} ${command}`, '/dev/null'], environment)
}

/** Runs kubectl with this on its standard input, which then ends. */
function withInput(
  session: Session,
  version: KubectlVersion,
  input: string,
  args: string[],
): Promise<Outcome> {
  const environment = { KUBECONFIG: session.kubeconfig, HOME: session.directory }
  return execute(programOf(version), args, environment, input)
}

describe('processes and who talks to them', { concurrency: 3 }, () => {
  for (const version of kubectlVersions) {
    describe(`with kubectl ${version}`, { concurrency: 1 }, () => {
      let session: Session
      let pod = ''
      let port = 0
      before(async () => {
        port = await freePort()
        session = await createClusterSession(server, version, `talk-${version.replace('.', '-')}`)
        const text = readFileSync(join(root, manifests, 'talkers.yaml'), 'utf8')
        const file = join(session.directory, 'talkers.yaml')
        writeFileSync(file, text.replaceAll('28000', String(port)).replaceAll('NODE', process.execPath))
        await session.ok(`apply -f ${file}`)
        await session.ok('rollout status deploy/talker --timeout=120s')
        pod = await session.ok('get pods -l app=talker -o jsonpath={.items[0].metadata.name}')
      })
      after(() => session[Symbol.dispose]())

      it('runs commands, gives them input and hands their exit code on', async () => {
        const failing = await session.kubectl(
          ...['exec', pod, '-c', 'talk', '--', 'sh', '-c', 'echo out; echo err >&2; exit 4'],
        )
        assert.equal(failing.code, 4)
        assert.equal(failing.stdout, 'out\n')
        assert.match(failing.stderr, /^err\ncommand terminated with exit code 4/)
        const missing = await session.fails(`exec ${pod} -c talk -- no-such-program`, /no-such-program/)
        assert.notEqual(missing.code, 0)
        await session.fails(
          `exec ${pod} -c missing -- true`,
          /container missing is not valid for pod|not found/,
        )
        assert.equal((await session.ok(`exec ${pod} -c talk -- head -c 3000000 /dev/zero`)).length, 3_000_000)
        const cargo = 'salt and rum\n'.repeat(50_000)
        const sum = await withInput(session, version, cargo, ['exec', '-i', pod, '-c', 'talk', '--', 'cat'])
        assert.equal(sum.stdout, cargo)
      })

      it('gives them a terminal', async () => {
        const { code, stdout } = await onTerminal(
          session,
          version,
          `exec -it ${pod} -c talk -- sh -c 'test -t 0 && echo on a terminal; exit 3'`,
        )
        assert.match(stdout, /on a terminal\r\n/)
        assert.equal(code, 3)
      })

      it('reads logs', async () => {
        await session.until(`logs ${pod} -c talk`, 'first\nsecond\nthird')
        await session.until(`logs ${pod} -c web`, 'hello from the web')
        await session.ok(`logs ${pod} -c talk --tail=2`, 'second\nthird')
        await session.ok(`logs ${pod} -c talk --tail=1 --timestamps`, /^\d{4}-\d\d-\d\dT\S+Z third\n$/)
        await session.ok(`logs ${pod} -c talk --since=1h`, 'first\nsecond\nthird')
        await session.ok(`logs ${pod} -c talk --since-time=2099-01-01T00:00:00Z`, '')
        await session.ok(`logs ${pod} -c talk --limit-bytes=6`, 'first')
        await session.ok('logs deploy/talker -c talk --tail=1', 'third')
        // Old versions print containers in any order.
        const all = await session.ok(`logs ${pod} --all-containers`)
        assert.deepEqual(all.trim().split('\n').sort(), ['first', 'hello from the web', 'second', 'third'])
        const both = await session.ok('logs -l app=talker --all-containers --prefix --tail=1')
        assert.deepEqual(both.trim().split('\n').sort(), [
          `[pod/${pod}/talk] third`,
          `[pod/${pod}/web] hello from the web`,
        ])
        await session.fails(
          `logs ${pod} -c talk --previous`,
          /previous terminated container "talk" in pod .* not found/,
        )
        await using following = session.kubectl.follow('logs', '-f', '--tail=1', pod, '-c', 'talk')
        await following.until(/^third$/)
        await withInput(session, version, '', [
          'exec',
          pod,
          '-c',
          'talk',
          '--',
          'sh',
          '-c',
          'echo fourth > /pipe/in',
        ])
        await following.until(/^heard fourth$/)
      })

      it('copies files and folders both ways', async () => {
        const { directory } = session
        const here = join(directory, 'hold')
        mkdirSync(join(here, 'deck'), { recursive: true })
        writeFileSync(join(here, 'cargo'), 'cargo\n'.repeat(100_000))
        writeFileSync(join(here, 'deck', 'rope'), 'rope\n')
        await session.ok(`cp ${here} ${pod}:${directory}/there -c talk`)
        assert.equal(readFileSync(join(directory, 'there/deck/rope'), 'utf8'), 'rope\n')
        await session.ok(`cp ${pod}:${directory}/there ${directory}/back -c talk`)
        for (const name of ['cargo', 'deck/rope'])
          assert.equal(
            readFileSync(join(directory, 'back', name), 'utf8'),
            readFileSync(join(here, name), 'utf8'),
          )
        await session.ok(`cp ${here}/cargo ${pod}:${directory}/one -c talk`)
        await session.ok(`cp ${session.namespace}/${pod}:${directory}/one ${directory}/again -c talk`)
        assert.equal(readFileSync(join(directory, 'again'), 'utf8').length, 600_000)
      })

      for (const [what, wanted] of [
        ['a Pod', () => [pod, `:${port}`]],
        ['a Service', () => ['svc/talker', ':8080']],
        ['a Deployment', () => ['deploy/talker', ':web']],
      ] as const) {
        it(`forwards a port of ${what}`, async () => {
          await using forwarding = session.kubectl.follow('port-forward', ...wanted())
          const line = await forwarding.until(/Forwarding from 127/)
          assert.match(line, new RegExp(` -> ${port}$`))
          const local = /127\.0\.0\.1:(\d+)/.exec(line)![1]
          const ask = async (path: string) => {
            const answer = await fetch(`http://127.0.0.1:${local}${path}`, {
              headers: { connection: 'close' },
            })
            return await answer.text()
          }
          assert.deepEqual(await Promise.all(['/a', '/b', '/c'].map(ask)), [
            'served /a',
            'served /b',
            'served /c',
          ])
        })
      }

      it('attaches', async () => {
        await using attached = session.kubectl.follow('attach', pod, '-c', 'talk')
        // Who comes late has missed it: it is said until it is heard.
        const speak = ['exec', pod, '-c', 'talk', '--', 'sh', '-c', 'echo again > /pipe/in']
        await eventually('it is heard', async () => {
          await succeeds(session.kubectl(...speak))
          return attached.lines.includes('heard again')
        })
      })
    })
  }

  describe('with kubectl 1.36', { concurrency: 1 }, () => {
    let session: Session
    before(async () => {
      session = await createClusterSession(server, '1.36', 'talk-newer')
      const command = ['sh', '-c', 'echo patient; exec sleep 600']
      const containers = [{ name: 'main', image: 'busybox', command }]
      const spec = { terminationGracePeriodSeconds: 1, containers }
      const file = join(session.directory, 'patient.json')
      const metadata = { name: 'patient' }
      writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata, spec }))
      await session.ok(`apply -f ${file}`)
      await session.ok('wait pod/patient --for=condition=Ready --timeout=120s')
    })
    after(() => session[Symbol.dispose]())

    it('tells what happened', async () => {
      // Events come a little later than what they tell of.
      await session.until(
        'events --for pod/patient',
        /Normal +Started +Pod\/patient +Container started/,
        /Normal +Scheduled +Pod\/patient +Successfully assigned talk-newer\/patient to node-/,
      )
      await session.until(
        'describe pod patient',
        /Status: +Running/,
        // In the order in which it happened.
        new RegExp(
          [
            'Scheduled .*default-scheduler +Successfully assigned .*',
            'Pulling .*kubelet +spec.containers\\{main\\}: Pulling image "busybox"',
            'Pulled .*kubelet +spec.containers\\{main\\}: Successfully pulled image "busybox" in .*',
            'Created .*kubelet +spec.containers\\{main\\}: Container created',
            'Started .*kubelet +spec.containers\\{main\\}: Container started',
          ].join('\n +Normal +'),
        ),
      )
    })

    it('runs a pod once, with its output, its input and its exit code', async () => {
      const flags = '-i --rm -q --restart=Never --image=busybox'
      const { code, stdout } = await session.fails(
        `run once --attach --rm -q --restart=Never --image=busybox --command -- sh -c 'sleep 2; echo two; exit 5'`,
      )
      assert.equal(code, 5)
      assert.match(stdout, /^two$/m)
      const args = ['run', 'piped', ...flags.split(' '), '--', 'sh', '-c', 'sed s/^/got-/; sleep 1']
      assert.match((await withInput(session, '1.36', 'typed\n', args)).stdout, /^got-typed$/m)
      const shown = await onTerminal(
        session,
        '1.36',
        `run shell -t ${flags} -- sh -c 'sleep 2; test -t 1 && echo on a terminal'`,
      )
      assert.match(shown.stdout, /on a terminal\r\n/)
      await session.until('get pods -o name', 'pod/patient')
    })

    it('debugs a pod beside it, in a copy of it, and its node', async () => {
      await session.ok(
        `debug patient --image=busybox -c doctor --profile=general --target=main -- echo looking`,
      )
      await session.until('logs patient -c doctor', 'looking')
      const states =
        'jsonpath={.status.phase},{.status.ephemeralContainerStatuses[0].state.terminated.reason}'
      await session.until(`get pod patient -o ${states}`, 'Running,Completed')
      await session.ok(
        'describe pod patient',
        /Ephemeral Containers:\n +doctor:/,
        /Target Container: +main|Reason: +Completed/,
      )
      await session.ok(
        `debug patient --copy-to=twin --set-image=main=centos -c main -- sh -c 'echo twin; sleep 600'`,
      )
      await session.ok('wait pod/twin --for=condition=Ready --timeout=120s')
      await session.until('logs twin', 'twin')
      await session.ok('get pod twin -o jsonpath={.spec.containers[0].image}', 'centos')
      await session.ok(
        `debug node/node-2 --image=busybox --profile=general -- sh -c 'test -d /host/etc && echo aboard'`,
        /Creating debugging pod (node-debugger-node-2-\w+) with container debugger on node node-2/,
      )
      const [debugger_ = ''] = /pod\/node-debugger-\S+/.exec(await session.ok('get pods -o name')) ?? []
      await session.until(`logs ${debugger_}`, 'aboard')
      await session.ok(`get ${debugger_} -o jsonpath={.spec.nodeName},{.spec.hostPID}`, 'node-2,true')
      await succeeds(session.kubectl('delete', 'pod', '--now', 'twin', debugger_.replace('pod/', '')))
    })
  })
})
