import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { createRealClock } from '@coxswain/kit'
import type { PodVolume } from '../container-runtime.ts'
import { findInCatalogue, hostImages } from './image-catalogue.ts'
import { LogFile } from './log-file.ts'
import { readLogFile } from './log-reader.ts'
import { createPathMapper } from './mounts.ts'
import { ProcessRegistry } from './process-registry.ts'
import { createProcessRuntime } from './process-runtime.ts'
import { pod, specOf, textOf, uid } from './test-support/process-pod.ts'

const directory = mkdtempSync(join(tmpdir(), 'process-runtime-'))
after(() => rmSync(directory, { recursive: true, force: true }))

const clock = createRealClock()
const { signal } = new AbortController()
const quiet = { follow: false, timestamps: false, signal }

describe('the process runtime', () => {
  it('runs a process with its files, and keeps its output and termination message', async () => {
    await using runtime = createProcessRuntime({ directory: join(directory, 'a') })
    await runtime.start(clock)
    const volume: PodVolume = {
      type: 'files',
      name: 'v',
      files: new Map([['sub/f', { data: new TextEncoder().encode('content'), mode: 0o600 }]]),
    }
    await runtime.writeVolumes(pod, [volume])
    const mounts = [{ volume: 'v', mountPath: '/etc/conf', readOnly: true }]
    const script = 'cat /etc/conf/sub/f; echo $X >&2; echo bye > /dev/termination-log; exit 3'
    const env = new Map([['X', 'at /etc/conf/x']])
    const container = await runtime.startContainer(specOf(script, { mounts, env }), signal)
    assert.deepEqual(await container.exited, { exitCode: 3, message: 'bye\n' })
    const log = await textOf(runtime.readLog({ pod, name: 'main', attempt: 0 }, quiet))
    assert.match(
      log,
      /^contentat \/.*\/a\/pods\/u\d+\/containers\/main\/root\/etc\/conf\/x\n$|^at .*\ncontent$/,
    )
    await runtime.removePod(pod)
    assert.equal(existsSync(join(directory, 'a', 'pods', uid)), false)
  })

  it('stops a container with all its processes, first with SIGTERM', async () => {
    await using runtime = createProcessRuntime({ directory: join(directory, 'b') })
    await runtime.start(clock)
    const polite = await runtime.startContainer(
      specOf('trap "echo asked; exit 9" TERM; sleep 500 & wait'),
      signal,
    )
    await textOf(runtime.readLog({ pod, name: 'main', attempt: 0 }, quiet))
    const execIo = { stdout: async () => {}, stderr: async () => {}, tty: false, signal: quiet.signal }
    assert.equal(await polite.exec(['sh', '-c', 'sleep 0.2; exit 5'], execIo), 5)
    await polite.stop(10_000)
    const { exitCode } = await polite.exited
    assert.ok([9, 143].includes(exitCode), String(exitCode))
    const deaf = await runtime.startContainer(
      specOf('trap "" TERM; echo deaf; while :; do sleep 1; done', { attempt: 1 }),
      signal,
    )
    // Before that the trap is not set.
    const log = () => textOf(runtime.readLog({ pod, name: 'main', attempt: 1 }, quiet))
    while (!(await log()).includes('deaf')) await setTimeout(10)
    await deaf.stop(50)
    assert.deepEqual(await deaf.exited, { exitCode: 137, signal: 9 })
  })

  it('reports why a command cannot be started', async () => {
    await using runtime = createProcessRuntime({ directory: join(directory, 'c') })
    await runtime.start(clock)
    await assert.rejects(
      runtime.startContainer(specOf('', { command: ['no-such-program'] }), signal),
      /executable file not found/,
    )
    await assert.rejects(
      runtime.startContainer(specOf('', { workingDir: '/no/such/place' }), signal),
      /chdir to cwd/,
    )
    await assert.rejects(
      runtime.startContainer(specOf('', { image: 'missing' }), signal),
      /not in the catalogue/,
    )
    await assert.rejects(runtime.dial(pod, 1), /connection refused/)
  })

  it('passes standard input to a process', async () => {
    await using runtime = createProcessRuntime({ directory: join(directory, 'd') })
    await runtime.start(clock)
    const container = await runtime.startContainer(specOf('sleep 100'), signal)
    let output = ''
    const exitCode = await container.exec(['cat'], {
      stdin: (async function* () {
        yield new TextEncoder().encode('some ')
        yield new TextEncoder().encode('input')
      })(),
      stdout: async chunk => {
        output += new TextDecoder().decode(chunk)
      },
      stderr: async () => {},
      tty: false,
      signal: quiet.signal,
    })
    assert.deepEqual([exitCode, output], [0, 'some input'])
  })
})

const isAlive = (pid: number): boolean => {
  try {
    // A zombie has ended, but has not been reaped yet.
    return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

/** In the group; out of it; out of it without an environment; and forked twice, without a parent. */
const brood = [
  'sleep 601 & echo $!',
  'setsid sleep 602 & echo $!',
  'env -i setsid sleep 603 & echo $!',
  "(setsid sh -c 'sleep 604 & echo $!' &)",
  'wait; sleep 605',
].join('\n')

/** The ids that a container has printed, when there are four of them. */
async function broodOf(runtime: ReturnType<typeof createProcessRuntime>): Promise<number[]> {
  for (;;) {
    const log = await textOf(runtime.readLog({ pod, name: 'main', attempt: 0 }, quiet))
    const pids = log.trim().split('\n').map(Number)
    if (pids.length === 4) return pids
    await setTimeout(10)
  }
}

describe('the processes of a container', () => {
  it('end with it, even outside its process group', async () => {
    await using runtime = createProcessRuntime({ directory: join(directory, 'e') })
    await runtime.start(clock)
    const container = await runtime.startContainer(specOf(brood), signal)
    const pids = await broodOf(runtime)
    assert.deepEqual(pids.map(isAlive), [true, true, true, true])
    await container.stop(0)
    assert.deepEqual(pids.map(isAlive), [false, false, false, false])
  })

  it('end with it when it stops on SIGTERM', async () => {
    await using runtime = createProcessRuntime({ directory: join(directory, 'i') })
    await runtime.start(clock)
    const container = await runtime.startContainer(specOf(brood), signal)
    const pids = await broodOf(runtime)
    await container.stop(10_000)
    assert.equal((await container.exited).signal, 15)
    assert.deepEqual(pids.map(isAlive), [false, false, false, false])
  })

  it('are ended by the next run of a runtime that was killed', async () => {
    const place = join(directory, 'f')
    const killed = createProcessRuntime({ directory: place })
    await killed.start(clock)
    const container = await killed.startContainer(specOf(brood), signal)
    const pids = await broodOf(killed)
    await using next = createProcessRuntime({ directory: place })
    await next.start(clock)
    const { exitCode } = await container.exited
    assert.equal(exitCode, 137)
    assert.deepEqual(pids.map(isAlive), [false, false, false, false])
  })
})

describe('the usage of containers', () => {
  it('is the CPU time and memory of all their processes, exec commands included', async () => {
    await using runtime = createProcessRuntime({ directory: join(directory, 'g') })
    await runtime.start(clock)
    const busy = 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; echo done; sleep 600'
    await runtime.startContainer(specOf(busy), signal)
    const log = () => textOf(runtime.readLog({ pod, name: 'main', attempt: 0 }, quiet))
    while (!(await log()).includes('done')) await setTimeout(10)
    const [usage, ...others] = (await runtime.usage?.([])) ?? []
    assert.deepEqual(others, [])
    assert.deepEqual([usage?.pod, usage?.container], [pod, 'main'])
    assert.ok(usage!.cpuNanoseconds > 0 && usage!.cpuNanoseconds < 60e9, String(usage?.cpuNanoseconds))
    assert.ok(usage!.memoryBytes > 100_000 && usage!.memoryBytes < 1e9, String(usage?.memoryBytes))
    assert.ok(usage!.time >= usage!.startedAt)
  })

  it('is limited by the capacity of the machine', () => {
    const { capacity, architecture } = createProcessRuntime({ directory }).describeNode!()
    assert.match(capacity.memory ?? '', /^\d+Ki$/)
    assert.ok(Number(capacity.cpu) >= 1)
    assert.notEqual(architecture, 'x64')
  })
})

describe('a process registry', () => {
  it('does not touch a process that has reused the id of one that has ended', () => {
    const place = join(directory, 'processes')
    const registry = new ProcessRegistry(place, 'registry')
    // This very process, as if it had started at another time: killing it would be noticed.
    writeFileSync(join(place, String(process.pid)), JSON.stringify({ pid: process.pid, startTime: '1' }))
    registry.killAll()
    assert.equal(existsSync(join(place, String(process.pid))), false)
  })
})

describe('mount paths', () => {
  it('are mapped alone or as the prefix of a path, and nowhere else', () => {
    const map = createPathMapper('/r', ['/data', '/data/in', '/etc/app/'])
    const cases = {
      '/data': '/r/data',
      'cat /data/x /etc/app/y': 'cat /r/data/x /r/etc/app/y',
      '--dir=/data': '--dir=/r/data',
      '/data/in/z': '/r/data/in/z',
      '/database': '/database',
      '/my/data': '/my/data',
      'http://host/data': 'http://host/data',
      '/data.txt': '/data.txt',
      'a:/data:/etc/app': 'a:/r/data:/r/etc/app',
    }
    for (const [text, expected] of Object.entries(cases)) assert.equal(map(text), expected)
    assert.equal(createPathMapper('/r', [])('/data'), '/data')
  })
})

describe('the image catalogue', () => {
  it('finds images by their whole name, without the tag, and by the last part', () => {
    const own = { command: ['own'] }
    const catalogue = { ...hostImages, 'example.com/x/busybox': own }
    assert.equal(findInCatalogue(catalogue, 'example.com/x/busybox:1'), own)
    assert.equal(findInCatalogue(catalogue, 'example.com:5000/y/busybox:1@sha256:00'), hostImages.busybox)
    assert.equal(findInCatalogue(catalogue, 'centos:7'), hostImages.centos)
    assert.equal(findInCatalogue(catalogue, 'toString'), undefined)
    assert.equal(findInCatalogue(catalogue, 'nginx'), undefined)
  })
})

describe('a log file', () => {
  it('is followed without a gap, and rotated', async () => {
    const path = join(directory, 'log', '0.log')
    const log = new LogFile(path, () => 0)
    const write = (text: string) => log.write('stdout', new TextEncoder().encode(text))
    write('one\ntw')
    const following = textOf(readLogFile(path, log, { ...quiet, follow: true }))
    write('o\nthree')
    log.end()
    assert.equal(await following, 'one\ntwo\nthree')
    assert.equal(await textOf(readLogFile(path, undefined, { ...quiet, tailLines: 2 })), 'two\nthree')
    assert.equal(await textOf(readLogFile(path, undefined, { ...quiet, limitBytes: 5 })), 'one\nt')
    const big = new LogFile(join(directory, 'log', '1.log'), () => 0)
    for (let i = 0; i < 1_500; i++) big.write('stdout', new TextEncoder().encode(`${'x'.repeat(15_000)}\n`))
    big.end()
    assert.ok(existsSync(join(directory, 'log', '1.log.2')))
    const all = await textOf(readLogFile(join(directory, 'log', '1.log'), undefined, quiet))
    assert.equal(all.length, 1_500 * 15_001)
    assert.ok(readFileSync(join(directory, 'log', '1.log')).length < 11 * 1024 * 1024)
  })
})
