import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { createRealClock } from '@coxswain/kit'
import type { ContainerSpec, PodVolume, ProcessIo } from '../container-runtime.ts'
import { chooseIsolation, type Isolation } from './namespaces.ts'
import { createProcessRuntime } from './process-runtime.ts'
import { pod, specOf, textOf, uid } from './test-support/process-pod.ts'

const { isolation: allowed, obstacle } = await chooseIsolation('auto')
const directory = mkdtempSync(join(tmpdir(), 'namespaces-'))
after(() => rmSync(directory, { recursive: true, force: true }))
const { signal } = new AbortController()
const quiet = { follow: false, timestamps: false, signal }
const tokens = '/var/run/secrets/kubernetes.io/serviceaccount'
const text = (value: string) => ({ data: new TextEncoder().encode(value), mode: 0o644 })
let count = 0

/** A runtime, and a function that runs a container to its end and returns its output. */
async function start(isolation: Isolation = 'namespaces') {
  const home = join(directory, String(count++))
  const runtime = createProcessRuntime({ directory: home, isolation })
  await runtime.start(createRealClock())
  const run = async (script: string, more: Partial<ContainerSpec> = {}) => {
    const container = await runtime.startContainer(specOf(script, more), signal)
    const exit = await container.exited
    const output = await textOf(runtime.readLog({ pod, name: more.name ?? 'main', attempt: 0 }, quiet))
    return { ...exit, output: output.trim().split('\n') }
  }
  return { home, runtime, run, [Symbol.asyncDispose]: () => runtime[Symbol.asyncDispose]() }
}

function collect(): { io: ProcessIo; output: () => string } {
  let output = ''
  const take = async (chunk: Uint8Array) => {
    output += new TextDecoder().decode(chunk)
  }
  return { io: { stdout: take, stderr: take, tty: false, signal }, output: () => output }
}

/** Both modes, where this machine has namespaces. */
for (const isolation of allowed === 'none' ? (['none'] as const) : (['namespaces', 'none'] as const))
  describe(`containers with isolation ${isolation}${obstacle === undefined ? '' : `: this machine has no namespaces (${obstacle})`}`, () => {
    it('find volumes at their mount paths, which are not created on the machine', async () => {
      await using node = await start(isolation)
      const volumes: PodVolume[] = [
        { type: 'files', name: 'account', files: new Map([['token', text('secret\n')]]) },
        { type: 'directory', name: 'data' },
      ]
      await node.runtime.writeVolumes(pod, volumes)
      const mounts = [
        { volume: 'account', mountPath: tokens, readOnly: true },
        { volume: 'data', mountPath: `/data-${uid}/deep`, readOnly: false },
        { volume: 'data', mountPath: `/data-${uid}/part`, subPath: 'part', readOnly: false },
      ]
      const script = `cat ${tokens}/token; echo x > /data-${uid}/deep/x; echo y > /data-${uid}/part/y; cat /data-${uid}/deep/x /data-${uid}/deep/part/y; echo bye > /dev/termination-log`
      const { output, message, exitCode } = await node.run(script, { mounts })
      assert.deepEqual([exitCode, message, ...output], [0, 'bye\n', 'secret', 'x', 'y'])
      assert.equal(existsSync(`/data-${uid}`), false)
      assert.equal(readFileSync(join(node.home, 'pods', uid, 'volumes/data/part/y'), 'utf8'), 'y\n')
      // Another container of the Pod sees the same.
      const other = await node.run(`cat /data-${uid}/deep/x`, { mounts, name: 'other' })
      assert.deepEqual(other.output, ['x'])
    })

    it('report a program that is missing', async () => {
      await using node = await start(isolation)
      await assert.rejects(
        node.run('', { command: ['no-such-program'] }),
        /exec: "no-such-program": executable file not found in \$PATH/,
      )
      await assert.rejects(
        node.run('', { command: ['/no/such'] }),
        /exec: "\/no\/such": stat: no such file or directory/,
      )
    })

    it('end with the exit code or the signal of their command', async () => {
      await using node = await start(isolation)
      assert.equal((await node.run('exit 7')).exitCode, 7)
      const container = await node.runtime.startContainer(
        specOf('sleep 500 & sleep 500', { attempt: 1 }),
        signal,
      )
      await container.stop(0)
      assert.equal((await container.exited).exitCode, 137)
    })
  })

if (allowed === 'namespaces')
  describe('namespaces', () => {
    const files = new Map([
      ['/etc/hosts', '127.0.0.1 localhost\n'],
      ['/etc/resolv.conf', 'nameserver 127.0.0.1\n'],
    ])

    it('have their own hostname, processes and files in /etc, for exec commands too', async () => {
      await using node = await start()
      const machine = [hostname(), readFileSync('/etc/hosts', 'utf8')]
      const see = 'hostname; cat /etc/hosts /etc/resolv.conf; ls -d /proc/[0-9]* | wc -l; pwd'
      const spec = specOf(`echo "pid $$"; ${see}; touch /ready; exec sleep 500`, {
        hostname: 'web-0',
        files,
        attempt: 0,
      })
      const container = await node.runtime.startContainer(spec, signal)
      const { io, output } = collect()
      const untilReady = 'until test -e /ready; do sleep 0.05; done'
      assert.equal(await container.exec(['sh', '-c', `${untilReady}; ${see}; exit 5`], io), 5)
      const expected = ['web-0', '127.0.0.1 localhost', 'nameserver 127.0.0.1']
      const lines = output().trim().split('\n')
      assert.deepEqual(lines.slice(0, 3), expected)
      assert.ok(Number(lines[3]) < 8, `${lines[3]} processes`)
      assert.equal(lines[4], '/')
      await container.stop(0)
      const printed = await textOf(node.runtime.readLog({ pod, name: 'main', attempt: 0 }, quiet))
      assert.deepEqual(printed.split('\n').slice(0, 4), ['pid 1', ...expected])
      assert.deepEqual([hostname(), readFileSync('/etc/hosts', 'utf8')], machine)
    })

    it('end with every process in them, however well it hides', async () => {
      await using node = await start()
      const mark = `hide-${process.pid}`
      const script = `env -i setsid sh -c 'exec sleep 500 ${mark}' & env -i setsid sh -c 'sleep 501; : ${mark}' & echo up; exec sleep 502`
      const hidden = () =>
        readdirSync('/proc').filter(name => {
          try {
            return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, 'latin1').includes(mark)
          } catch {
            return false
          }
        })
      const container = await node.runtime.startContainer(specOf(script), signal)
      const { io, output } = collect()
      await container.exec(['sh', '-c', 'until ls /proc | grep -q "^[2-9]"; do :; done; echo found'], io)
      assert.equal(output(), 'found\n')
      await container.stop(0)
      assert.deepEqual(hidden(), [])
    })

    it('enforce read-only mounts, and keep writes elsewhere in / off the machine', async () => {
      await using node = await start()
      await node.runtime.writeVolumes(pod, [{ type: 'directory', name: 'data' }])
      const mounts = [
        { volume: 'data', mountPath: '/ro', readOnly: true },
        { volume: 'data', mountPath: '/rw', readOnly: false },
      ]
      const script = `touch /ro/x 2>/dev/null || echo refused; touch /rw/x && ls /ro; touch /new-${uid} && ls /new-${uid}`
      assert.deepEqual((await node.run(script, { mounts })).output, ['refused', 'x', `/new-${uid}`])
      assert.equal(existsSync(`/new-${uid}`), false)
    })

    it('show changes to the files of a volume', async () => {
      await using node = await start()
      const write = (value: string) =>
        node.runtime.writeVolumes(pod, [
          { type: 'files', name: 'conf', files: new Map([['key', text(value)]]) },
        ])
      await write('old\n')
      const mounts = [{ volume: 'conf', mountPath: '/etc/conf', readOnly: true }]
      const script =
        'cat /etc/conf/key; until grep -q new /etc/conf/key; do sleep 0.05; done; cat /etc/conf/key'
      const running = node.run(script, { mounts })
      await write('new\n')
      assert.equal((await running).output.at(-1), 'new')
    })

    it('follow symbolic links as the container sees them, never on the machine', async () => {
      await using node = await start()
      const outside = join(directory, 'outside')
      mkdirSync(outside)
      const link = join(directory, 'link')
      writeFileSync(join(directory, 'kept'), 'kept')
      await node.runtime.writeVolumes(pod, [{ type: 'directory', name: 'data' }])
      const volume = join(node.home, 'pods', uid, 'volumes/data')
      const plant = specOf(`ln -s ${outside} /data/out; ln -s / /data/top`, {
        mounts: [{ volume: 'data', mountPath: '/data', readOnly: false }],
      })
      await (await node.runtime.startContainer(plant, signal)).exited
      assert.ok(existsSync(volume) && !existsSync(link))
      const mounts = [
        { volume: 'data', mountPath: '/data', readOnly: false },
        { volume: 'data', mountPath: '/data/out/made', readOnly: false },
      ]
      const { exitCode, output } = await node.run(`ls ${outside}`, { mounts })
      assert.deepEqual([exitCode, output], [0, ['made']])
      assert.deepEqual(readdirSync(outside), [], 'nothing was made there')
      const subPath = { volume: 'data', mountPath: '/sub', subPath: 'out', readOnly: false }
      await assert.rejects(node.run('true', { mounts: [subPath] }), /failed to prepare subPath/)
    })

    it('pass variables of any name, and create working directories', async () => {
      await using node = await start()
      const env = new Map([
        ['a.b-c', "it's"],
        ['PATH', '/usr/bin:/bin'],
      ])
      const workingDir = `/work-${uid}/x`
      assert.deepEqual((await node.run('pwd', { workingDir })).output, [workingDir])
      const { output } = await node.run('', { env, command: ['env'], name: 'other' })
      for (const [name, value] of env) assert.ok(output.includes(`${name}=${value}`), output.join())
    })

    if (process.getuid?.() === 0)
      it('run as the user of the Pod', async () => {
        await using node = await start()
        const { output } = await node.run('id -u; id -g; id -G; touch /own && echo wrote', {
          user: 4321,
          group: 1234,
        })
        assert.deepEqual(output, ['4321', '1234', '1234', 'wrote'])
      })
  })
