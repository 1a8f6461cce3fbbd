import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import type { Pod } from '@coxswain/api/core/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import { createRealClock } from '@coxswain/kit'
import type { ContainerRuntime, ContainerSpec, RunningContainer } from '../container-runtime.ts'
import { LogFile } from './log-file.ts'
import { readLogFile } from './log-reader.ts'
import { OutputPacer } from './output-pacer.ts'
import { listProcesses, markOf } from './process-registry.ts'
import { createProcessRuntime } from './process-runtime.ts'
import { pod, specOf, textOf, uid } from './test-support/process-pod.ts'
import { findUnsupported } from './unsupported.ts'

const directory = mkdtempSync(join(tmpdir(), 'process-abuse-'))
after(() => rmSync(directory, { recursive: true, force: true }))

const { signal } = new AbortController()
const quiet = { follow: false, timestamps: false, signal }
const silent = { stdout: async () => {}, stderr: async () => {}, tty: false, signal }

async function startRuntime(name: string): Promise<ContainerRuntime> {
  const runtime = createProcessRuntime({ directory: join(directory, name) })
  await runtime.start(createRealClock())
  return runtime
}

/** How many processes of the runtime in `name` there are. */
const countMarked = (name: string): number =>
  listProcesses().filter(pid => markOf(pid, 'COXSWAIN_NODE') === join(directory, name)).length

describe('a malicious container', () => {
  it('does not block its node with a pipe in place of its termination message', async () => {
    await using runtime = await startRuntime('fifo')
    const script = 'f=$(readlink $COXSWAIN_ROOT/dev/termination-log); rm $f; mkfifo $f; exit 4'
    const container = await runtime.startContainer(specOf(script), signal)
    assert.deepEqual(await container.exited, { exitCode: 4 })
  })

  it('has the last 4096 bytes of its termination message reported, however long it is', async () => {
    await using runtime = await startRuntime('words')
    const script = 'head -c 50000000 /dev/zero > /dev/termination-log; printf end >> /dev/termination-log'
    const container = await runtime.startContainer(specOf(script), signal)
    const { message = '' } = await container.exited
    assert.equal(message.length, 4096)
    assert.ok(message.endsWith('end'))
  })

  it('does not escape a volume through a symbolic link', async () => {
    await using runtime = await startRuntime('links')
    const outside = join(directory, 'outside')
    mkdirSync(outside)
    await runtime.writeVolumes(pod, [{ type: 'directory', name: 'v' }])
    const volume = join(directory, 'links', 'pods', uid, 'volumes', 'v')
    symlinkSync(outside, join(volume, 'out'))
    symlinkSync('../../../../../..', join(volume, 'up'))
    mkdirSync(join(volume, 'real'))
    symlinkSync('real', join(volume, 'inside'))
    const start = async (...mounts: ContainerSpec['mounts']) =>
      await runtime.startContainer(specOf('true', { mounts }), signal)
    for (const subPath of ['out', 'out/made', 'up', 'up/made', 'inside/../../..']) {
      await assert.rejects(start({ volume: 'v', mountPath: '/data', subPath, readOnly: false }), {
        name: 'CreateContainerConfigError',
        message: 'failed to prepare subPath for volumeMount "v" of container "main"',
      })
    }
    const whole = { volume: 'v', mountPath: '/data', readOnly: false }
    await assert.rejects(start(whole, { volume: 'v', mountPath: '/data/out/made/x', readOnly: false }), {
      message: 'mount path /data/out/made/x leads out of the volume at /data',
    })
    assert.deepEqual(readdirSync(outside), [])
    await (await start({ volume: 'v', mountPath: '/data', subPath: 'inside/new', readOnly: false })).exited
    assert.ok(existsSync(join(volume, 'real', 'new')))
  })

  it('starts every attempt with an empty directory, and only the log of the previous one is kept', async () => {
    await using runtime = await startRuntime('lives')
    for (let attempt = 0; attempt < 4; attempt++) {
      const script = 'test -e $HOME/old && exit 9; touch $HOME/old; echo said'
      const container = await runtime.startContainer(specOf(script, { attempt }), signal)
      assert.deepEqual(await container.exited, { exitCode: 0 })
    }
    assert.deepEqual(readdirSync(join(directory, 'lives', 'pods', uid, 'logs', 'main')), ['2.log', '3.log'])
  })
})

describe('the processes of a container', () => {
  it('end, even if they start others faster than they are killed', async () => {
    await using runtime = await startRuntime('bomb')
    const bomb = 'while :; do setsid sh -c "setsid sleep 5 & sleep 5" & sleep 0.01; done'
    const container = await runtime.startContainer(
      specOf(`trap "" TERM; for i in 1 2 3; do setsid sh -c '${bomb}' & done; sleep 500`),
      signal,
    )
    while (countMarked('bomb') <= 10) await setTimeout(10)
    await container.stop(0)
    assert.equal(countMarked('bomb'), 0)
  })

  it('keep running when a container of the same name in another runtime ends', async () => {
    await using first = await startRuntime('first')
    await using second = await startRuntime('second')
    const lasting = await first.startContainer(specOf('exec sleep 500'), signal)
    assert.deepEqual(await (await second.startContainer(specOf('true'), signal)).exited, { exitCode: 0 })
    await lasting.stop(60_000)
    assert.deepEqual(await lasting.exited, { exitCode: 143, signal: 15 })
  })

  it('started by an exec command outlive the command, and end with the container', async () => {
    await using runtime = await startRuntime('exec')
    const container = await runtime.startContainer(specOf('exec sleep 500'), signal)
    assert.equal(await container.exec(['sh', '-c', 'sleep 400 >/dev/null 2>&1 & exit 6'], silent), 6)
    const pending = container.exec(['sleep', '300'], silent)
    while (countMarked('exec') < 3) await setTimeout(10)
    await container.stop(0)
    assert.equal(await pending, 137)
    assert.equal(countMarked('exec'), 0)
  })
})

describe('a slow reader', () => {
  const endlessly = async (start: (runtime: ContainerRuntime) => Promise<RunningContainer>, name: string) => {
    const runtime = await startRuntime(name)
    return { runtime, container: await start(runtime) }
  }

  it('of a command gets all output, even long after the command has ended', async () => {
    const { runtime, container } = await endlessly(r => r.startContainer(specOf('sleep 500'), signal), 'slow')
    await using _ = runtime
    let length = 0
    const stdout = async (chunk: Uint8Array) => {
      if (length === 0) await setTimeout(2_500)
      length += chunk.length
    }
    await container.exec(['head', '-c', '180000', '/dev/zero'], { ...silent, stdout })
    assert.equal(length, 180_000)
  })

  it('that is attached blocks the container until it disconnects', async () => {
    const { runtime, container } = await endlessly(r => r.startContainer(specOf('yes'), signal), 'attach')
    await using _ = runtime
    const leave = new AbortController()
    const attached = container.attach({
      ...silent,
      stdout: () => new Promise(() => {}),
      signal: leave.signal,
    })
    const log = join(directory, 'attach', 'pods', uid, 'logs', 'main', '0.log')
    const sizeOf = async () => (await textOf(readLogFile(log, undefined, quiet))).length
    let before = 0
    // What fits into buffers is still written.
    for (let last = -1; before === 0 || last !== before; await setTimeout(200))
      [last, before] = [before, await sizeOf()]
    leave.abort()
    await attached
    while ((await sizeOf()) <= before) await setTimeout(10)
  })

  it('of a log continues with the oldest file when unread files were rotated away', async () => {
    const path = join(directory, 'behind', '0.log')
    const log = new LogFile(path, () => 0)
    const line = 'x'.repeat(10_000)
    const write = (text: string) => log.write('stdout', new TextEncoder().encode(`${text}\n`))
    write('first')
    const reader = readLogFile(path, log, { ...quiet, follow: true })
    assert.equal(new TextDecoder().decode((await reader.next()).value as Uint8Array), 'first\n')
    for (let count = 0; count < 6_500; count++) write(`${count} ${line}`)
    write('last')
    log.end()
    const rest = await textOf(reader)
    assert.ok(rest.length > 30_000_000 && rest.length < 6_500 * 10_000)
    assert.ok(rest.endsWith(`${line}\nlast\n`))
    assert.deepEqual(readdirSync(join(directory, 'behind')).length, 5)
  })
})

describe('a log that cannot be written', () => {
  it('loses lines but does not fail the container', () => {
    const path = join(directory, 'lost', '0.log')
    const log = new LogFile(path, () => 0)
    const write = (text: string) => log.write('stdout', new TextEncoder().encode(text))
    // A directory where the rotation removes the oldest file.
    mkdirSync(`${path}.4`)
    for (let count = 0; count < 700; count++) write(`${'z'.repeat(16_000)}\n`)
    write('more\n')
    log.end()
    assert.equal(existsSync(`${path}.1`), false)
  })
})

describe('the end of a log', () => {
  it('is found across files, and in lines that are longer than what is read at once', async () => {
    const path = join(directory, 'tail', '0.log')
    const log = new LogFile(path, () => 0)
    const write = (text: string) => log.write('stdout', new TextEncoder().encode(text))
    for (let count = 0; count < 11; count++) write(`${count}${'y'.repeat(1_000_000)}\n`)
    write('a\nb\n')
    const tail = async (tailLines: number) => await textOf(readLogFile(path, log, { ...quiet, tailLines }))
    assert.ok(existsSync(`${path}.1`))
    assert.equal(await tail(0), '')
    assert.equal(await tail(1), 'b\n')
    assert.equal(await tail(2), 'a\nb\n')
    assert.ok(/^y+\n10y+\na\nb\n$/.test(await tail(100)))
    assert.equal((await tail(10_000)).length, 11_000_000 + 10 + 2 + 11 + 4)
    log.end()
  })

  it('has as many lines as asked for while the container goes on printing', async () => {
    const path = join(directory, 'busy', '0.log')
    const log = new LogFile(path, () => 0)
    const write = (text: string) => log.write('stdout', new TextEncoder().encode(text))
    write('a\nb\nc\n')
    let text = ''
    for await (const chunk of readLogFile(path, log, { ...quiet, tailLines: 2 })) {
      text += new TextDecoder().decode(chunk)
      write('d\n')
    }
    assert.equal(text, 'b\nc\n')
    log.end()
  })
})

describe('containers that print without end', () => {
  it("together use a quarter of their node's time", () => {
    let now = 0
    const pacer = new OutputPacer(() => now)
    const print = (milliseconds: number) => pacer.run(() => (now += milliseconds))
    assert.deepEqual([print(1), print(10), print(1)], [0, 33, 36])
    now += 36
    assert.equal(print(1), 0)
  })
})

describe('volumes of files', () => {
  it('change atomically, and files that are no longer in the volume are removed', async () => {
    await using runtime = await startRuntime('atomic')
    const place = join(directory, 'atomic', 'pods', uid, 'volumes', 'v')
    const write = async (files: Record<string, string>) =>
      await runtime.writeVolumes(pod, [
        {
          type: 'files',
          name: 'v',
          files: new Map(
            Object.entries(files).map(([name, text]) => [
              name,
              { data: new TextEncoder().encode(text), mode: 0o640 },
            ]),
          ),
        },
      ])
    await write({ a: '1', 'sub/b': '1' })
    assert.deepEqual(
      readdirSync(place)
        .filter(name => !/^\.\.\d/.test(name))
        .sort(),
      ['..data', 'a', 'sub'],
    )
    const script = 'cat /v/a /v/sub/b; readlink /v/a /v/sub; stat -L -c %a /v/a; readlink /v/..data'
    const mounts = [{ volume: 'v', mountPath: '/v', readOnly: true }]
    await (await runtime.startContainer(specOf(script, { mounts }), signal)).exited
    const seen = await textOf(runtime.readLog({ pod, name: 'main', attempt: 0 }, quiet))
    assert.match(seen, /^11\.\.data\/a\n\.\.data\/sub\n640\n\.\.\d{4}_\d\d_\d\d_\d\d_\d\d_\d\d\.\w+\n$/)
    const first = readdirSync(place)
    await write({ a: '1', 'sub/b': '1' })
    assert.deepEqual(readdirSync(place), first)
    rmSync(join(place, 'a'))
    writeFileSync(join(place, 'a'), 'mine')
    await write({ a: '2', c: '2' })
    assert.deepEqual(
      readdirSync(place)
        .filter(name => !/^\.\.\d/.test(name))
        .sort(),
      ['..data', 'a', 'c'],
    )
    assert.equal(readdirSync(place).length, 4)
  })

  it('of the host are checked against their hostPath type', async () => {
    await using runtime = await startRuntime('host')
    const base = join(directory, 'host-paths')
    mkdirSync(base)
    writeFileSync(join(base, 'file'), '')
    const write = async (name: string, hostPathType: string) =>
      await runtime.writeVolumes(pod, [{ type: 'host', name: 'h', path: join(base, name), hostPathType }])
    const wrong: readonly (readonly [string, string, string])[] = [
      ['file', 'Directory', 'directory'],
      ['file', 'DirectoryOrCreate', 'directory'],
      ['', 'File', 'file'],
      ['file', 'Socket', 'socket file'],
      ['file', 'CharDevice', 'character device'],
      ['missing', 'Directory', 'directory'],
      ['missing', 'File', 'file'],
    ]
    for (const [name, type, what] of wrong) {
      const message = `MountVolume.SetUp failed for volume "h" : hostPath type check failed: ${join(base, name)} is not a ${what}`
      await assert.rejects(write(name, type), { message })
    }
    await write('made', 'DirectoryOrCreate')
    await write('made too', '')
    await write('made-file', 'FileOrCreate')
    assert.deepEqual(readdirSync(base), ['file', 'made', 'made too', 'made-file'])
  })
})

describe('unsupported fields', () => {
  it('are found in the spec of a pod, and no others', () => {
    const of = (spec: object) =>
      findUnsupported({ spec } as unknown as DeepReadonly<Pod>, { uid: 0, isolation: 'none' })
    assert.deepEqual(of({ containers: [{ name: 'a', resources: { requests: { cpu: '1' } } }] }), [])
    assert.deepEqual(
      of({
        securityContext: { fsGroup: 1, runAsUser: 5 },
        hostAliases: [{ ip: '10.0.0.1' }],
        volumes: [
          { name: 'e', emptyDir: { medium: 'Memory' } },
          { name: 'c', configMap: {} },
        ],
        initContainers: [{ name: 'i', securityContext: { capabilities: {} } }],
        containers: [
          {
            name: 'a',
            resources: { limits: { memory: '1Gi', 'ephemeral-storage': '1Gi' } },
            volumeMounts: [
              { name: 'e', mountPath: '/e', readOnly: true },
              { name: 'c', mountPath: '/c', readOnly: true },
            ],
          },
        ],
      }),
      [
        'securityContext.fsGroup',
        'hostAliases',
        'volumes{e}.emptyDir.medium',
        'initContainers{i}.securityContext.capabilities',
        'containers{a}.resources.limits.memory',
        'containers{a}.volumeMounts{e}.readOnly',
      ],
    )
  })

  it('include another user when the kubelet does not run as root', () => {
    const spec = { containers: [{ name: 'a', securityContext: { runAsUser: 7 } }] }
    const of = (uid: number) =>
      findUnsupported({ spec } as unknown as DeepReadonly<Pod>, { uid, isolation: 'none' })
    assert.deepEqual([of(0), of(7), of(8)], [[], [], ['containers{a}: runAsUser 7']])
  })

  it('reject root for a container with runAsNonRoot', async () => {
    if (process.getuid?.() !== 0) return
    await using runtime = await startRuntime('root')
    const start = (more: Partial<ContainerSpec>) =>
      runtime.startContainer(specOf('true', { runAsNonRoot: true, ...more }), signal)
    await assert.rejects(start({}), {
      name: 'CreateContainerConfigError',
      message: `container has runAsNonRoot and image will run as root (pod: "p_default(${uid})", container: main)`,
    })
    await assert.rejects(start({ user: 0 }), /container's runAsUser breaks non-root policy/)
    assert.equal((await (await start({ user: 65_534 })).exited).exitCode, 0)
  })
})

describe('the disk usage of a pod', () => {
  it('is measured by volume and by container, logs included', async () => {
    await using runtime = await startRuntime('disk')
    await runtime.writeVolumes(pod, [{ type: 'directory', name: 'v' }])
    const mounts = [{ volume: 'v', mountPath: '/v', readOnly: false }]
    const script =
      'head -c 300000 /dev/zero > /v/x; ln /v/x /v/y; ln -s / /v/z; head -c 200000 /dev/zero > $HOME/f'
    await (await runtime.startContainer(specOf(script, { mounts }), signal)).exited
    const usage = await runtime.diskUsage!(pod)
    const volume = usage.volumes.get('v') ?? 0
    const main = usage.containers.get('main') ?? 0
    assert.ok(volume >= 300_000 && volume < 350_000, `${volume}`)
    assert.ok(main >= 200_000 && main < 300_000, `${main}`)
  })
})
