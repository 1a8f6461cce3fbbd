/** Noise on the sockets of a real server: it stays up, answers those who ask properly, and does not grow. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { connect } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { createSeededRandom, type Random } from '@coxswain/kit'
import { createHttpTransport } from '@coxswain/wire/node'
import { makeBadRequest } from './inputs.ts'

const command = fileURLToPath(new URL('../../packages/coxswain/bin/coxswain.js', import.meta.url))
const seed = Number(process.env.TORTURE_SEED ?? 1)
const duration = process.env.TORTURE_RUNS === undefined ? 15_000 : 300_000
/** Megabytes. */
const growth = 300
const parallel = 8

test(`noise on sockets, seed ${seed}`, { timeout: duration + 120_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'coxswain-fuzz-'))
  const args = [command, 'up', '--port', '0', '--data-dir', folder, '--controllers', 'none']
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let log = ''
  child.stderr.setEncoding('utf8').on('data', chunk => {
    log += chunk
  })
  try {
    const url = await readUrl(child)
    const port = Number(new URL(url).port)
    const random = createSeededRandom(seed)
    await Promise.all(Array.from({ length: 200 }, () => sendNoise(port, random)))
    const before = residentMegabytes(child.pid!)
    let sent = 0
    const deadline = performance.now() + duration
    const client = async () => {
      for (; performance.now() < deadline; sent++) await sendNoise(port, random)
    }
    await Promise.all(Array.from({ length: parallel }, client))
    assert.equal(child.exitCode, null, log)
    await using transport = createHttpTransport({
      server: url,
      tls: { ca: readFileSync(join(folder, 'pki', 'ca.crt'), 'utf8') },
    })
    const { signal } = new AbortController()
    const { status } = await transport.send({ method: 'GET', path: '/livez', query: '', headers: {}, signal })
    assert.equal(status, 200)
    const grown = residentMegabytes(child.pid!) - before
    assert.ok(grown < growth, `the server grew by ${Math.round(grown)} MB`)
    assert.ok(!/"level":"(?:error|fatal)"/.test(log), log.slice(0, 2_000))
    console.log(`${sent} connections, ${Math.round(grown)} MB more`)
  } finally {
    child.kill('SIGTERM')
    await new Promise(resolve => (child.exitCode === null ? child.on('exit', resolve) : resolve(undefined)))
    await rm(folder, { recursive: true, force: true })
  }
})

function readUrl(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    child.stdout!.setEncoding('utf8').on('data', chunk => {
      text += chunk
      const found = /https:\/\/[^\s,]+/.exec(text)?.[0]
      if (found) resolve(found)
    })
    child.on('exit', code => reject(new Error(`the server ended with code ${code}`)))
  })
}

function residentMegabytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1_000
}

/** One connection that says something and goes away after the answer, or soon. */
function sendNoise(port: number, random: Random): Promise<void> {
  const isHttp2 = random.next() < 0.5
  const bytes = isHttp2 ? http2Noise(random) : http1Noise(random)
  return new Promise(resolve => {
    const protocol = isHttp2 ? 'h2' : 'http/1.1'
    const socket = connect(
      { port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: [protocol] },
      () => void socket.write(bytes),
    )
    const done = () => {
      clearTimeout(timer)
      socket.destroy()
      resolve()
    }
    const timer = setTimeout(done, 100 + 400 * random.next())
    socket.on('data', () => {})
    socket.on('error', done)
    socket.on('close', done)
  })
}

const below = (random: Random, limit: number) => Math.floor(random.next() * limit)

/** A request in which some bytes are not what they should be. */
function http1Noise(random: Random): Buffer {
  const { method, path, query, headers, body } = makeBadRequest(random)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const length = random.next() < 0.8 ? (body?.length ?? 0) : below(random, 1e6)
  const framing = random.next() < 0.8 ? `Content-Length: ${length}\r\n` : 'Transfer-Encoding: chunked\r\n'
  const head = `${method} ${path}?${query} HTTP/1.1\r\nHost: x\r\n${lines.join('')}${framing}\r\n`
  const bytes = Buffer.concat([Buffer.from(head), body ?? Buffer.alloc(0)])
  for (let times = below(random, 6); times > 0; times--)
    bytes[below(random, Math.min(400, bytes.length))] = below(random, 256)
  return bytes.subarray(0, random.next() < 0.7 ? bytes.length : below(random, bytes.length))
}

/** The preface, perhaps, and frames of every type with whatever in them. */
function http2Noise(random: Random): Buffer {
  const parts = [Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(4, 0, 0, Buffer.alloc(0))]
  if (random.next() < 0.1) parts.shift()
  for (let count = 1 + below(random, 30); count > 0; count--) {
    const payload = Buffer.from(Array.from({ length: below(random, 60) }, () => below(random, 256)))
    parts.push(frame(below(random, 12), below(random, 256), below(random, 20), payload))
  }
  return Buffer.concat(parts)
}

function frame(type: number, flags: number, id: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(id, 5)
  return Buffer.concat([head, payload])
}
