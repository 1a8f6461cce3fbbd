/** The load generator: a process of its own that takes {@link Job}s over IPC, one at a time. */
import type { Access } from './access.ts'
import { Http1Connection } from './http1-connection.ts'
import { Http2Connection } from './http2-connection.ts'
import type { Counted, Job, Report } from './jobs.ts'
import { createPod } from './pod.ts'

const report = (message: Report) => process.send!(message)
/** So that names are new in every run. */
let runs = 0

process.on('message', (job: Job) => {
  perform(job).then(
    counted => report({ type: 'end', ...counted }),
    (error: Error) => report({ type: 'failed', message: `${job.type}: ${error.message}` }),
  )
})

function perform(job: Job): Promise<Counted> {
  switch (job.type) {
    case 'fill':
      return fill(job.access, job.namespace, job.count)
    case 'get':
      return job.protocol === 'h2' ? getHttp2(job) : getHttp1(job)
    case 'create':
      return create(job)
    case 'list':
      return list(job)
    case 'watch':
      return watch(job)
  }
}

interface Answer {
  readonly status: number
  readonly body: Buffer
}

function ask(
  connection: Http2Connection,
  method: string,
  path: string,
  body?: Buffer,
  type?: string,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = []
    let status = 0
    connection.send(
      method,
      path,
      {
        onStatus: code => {
          status = code
        },
        onData: piece => pieces.push(piece),
        onEnd: error => (error ? reject(error) : resolve({ status, body: Buffer.concat(pieces) })),
      },
      body,
      type,
    )
  })
}

function openConnections(access: Access, count: number): Promise<Http2Connection[]> {
  return Promise.all(Array.from({ length: count }, () => Http2Connection.open(access)))
}

const json = (value: object) => Buffer.from(JSON.stringify(value))

/** The namespace and what a pod needs in it; there may be no controller that makes it. */
async function prepareNamespace(connection: Http2Connection, name: string): Promise<void> {
  await ask(connection, 'POST', '/api/v1/namespaces', json({ metadata: { name } }))
  await ask(
    connection,
    'POST',
    `/api/v1/namespaces/${name}/serviceaccounts`,
    json({ metadata: { name: 'default' } }),
  )
}

async function post(connection: Http2Connection, namespace: string, name: string): Promise<void> {
  const path = `/api/v1/namespaces/${namespace}/pods`
  const { status, body } = await ask(connection, 'POST', path, json(createPod(name, namespace)))
  if (status !== 201) throw new Error(`a pod was refused: ${body.toString('utf8', 0, 300)}`)
}

async function fill(access: Access, namespace: string, count: number): Promise<Counted> {
  const connections = await openConnections(access, 4)
  await prepareNamespace(connections[0]!, namespace)
  const started = performance.now()
  report({ type: 'begin' })
  let next = 0
  const worker = async (connection: Http2Connection) => {
    while (next < count) await post(connection, namespace, `pod-${String(next++).padStart(7, '0')}`)
  }
  await Promise.all(connections.flatMap(connection => Array.from({ length: 8 }, () => worker(connection))))
  for (const connection of connections) connection.close()
  return { count, bytes: 0, milliseconds: performance.now() - started }
}

async function getHttp2({ access, path, clients, milliseconds }: Job & { type: 'get' }): Promise<Counted> {
  const connections = await openConnections(access, 8)
  const { body } = await ask(connections[0]!, 'GET', path)
  const started = performance.now()
  report({ type: 'begin' })
  let count = 0
  let bytes = 0
  let ended = 0
  await new Promise<void>((resolve, reject) => {
    const run = (connection: Http2Connection) => {
      connection.send('GET', path, {
        onStatus: status => {
          if (status !== 200) reject(new Error(`a get was answered ${status}`))
        },
        onData: piece => {
          bytes += piece.length
        },
        onEnd: error => {
          if (error) return reject(error)
          count++
          if (performance.now() - started < milliseconds) run(connection)
          else if (++ended === clients) resolve()
        },
      })
    }
    for (let client = 0; client < clients; client++) run(connections[client % connections.length]!)
  })
  if (bytes !== count * body.length) throw new Error('an answer has another length')
  for (const connection of connections) connection.close()
  return { count, bytes, milliseconds: performance.now() - started }
}

async function getHttp1({ access, path, clients, milliseconds }: Job & { type: 'get' }): Promise<Counted> {
  const connections = await Promise.all(Array.from({ length: clients }, () => Http1Connection.open(access)))
  const started = performance.now()
  report({ type: 'begin' })
  let count = 0
  await Promise.all(
    connections.map(
      connection =>
        new Promise<void>((resolve, reject) => {
          const onEnd = (error?: Error) => {
            if (error) return reject(error)
            count++
            if (performance.now() - started < milliseconds) connection.get(path, onEnd)
            else resolve()
          }
          connection.get(path, onEnd)
        }),
    ),
  )
  for (const connection of connections) connection.close()
  return { count, bytes: 0, milliseconds: performance.now() - started }
}

async function create({
  access,
  namespace,
  clients,
  milliseconds,
}: Job & { type: 'create' }): Promise<Counted> {
  const connections = await openConnections(access, Math.min(8, clients))
  await prepareNamespace(connections[0]!, namespace)
  const run = `${Date.now().toString(36)}${++runs}`
  const started = performance.now()
  report({ type: 'begin' })
  let count = 0
  const client = async (index: number) => {
    const connection = connections[index % connections.length]!
    for (let i = 0; performance.now() - started < milliseconds; i++) {
      await post(connection, namespace, `pod-${run}-${index}-${i}`)
      count++
    }
  }
  await Promise.all(Array.from({ length: clients }, (_, index) => client(index)))
  for (const connection of connections) connection.close()
  return { count, bytes: 0, milliseconds: performance.now() - started }
}

async function list({ access, path, times }: Job & { type: 'list' }): Promise<Counted> {
  const [connection] = (await openConnections(access, 1)) as [Http2Connection]
  const started = performance.now()
  report({ type: 'begin' })
  let bytes = 0
  for (let i = 0; i < times; i++) {
    await new Promise<void>((resolve, reject) => {
      connection.send('GET', path, {
        onStatus: status => {
          if (status !== 200) reject(new Error(`a list was answered ${status}`))
        },
        onData: piece => {
          bytes += piece.length
        },
        onEnd: error => (error ? reject(error) : resolve()),
      })
    })
  }
  connection.close()
  return { count: times, bytes, milliseconds: performance.now() - started }
}

const newline = 10

async function watch(job: Job & { type: 'watch' }): Promise<Counted> {
  const { access, namespace, watchers, writers, milliseconds } = job
  const [writing, ...connections] = await openConnections(access, 1 + Math.ceil(watchers / 100))
  await prepareNamespace(writing!, namespace)
  const names = Array.from({ length: writers }, (_, index) => `pod-${index}`)
  for (const name of names) await post(writing!, namespace, name).catch(() => {}) // there since the last round
  const path = `/api/v1/namespaces/${namespace}/pods`
  const { resourceVersion } = JSON.parse((await ask(writing!, 'GET', path)).body.toString()).metadata
  let events = 0
  let bytes = 0
  let last = 0
  let isOver = false
  let onFailure: (error: Error) => void = () => {}
  const failed = new Promise<never>((_, reject) => {
    onFailure = reject
  })
  failed.catch(() => {})
  await new Promise<void>(resolve => {
    let open = 0
    for (let i = 0; i < watchers; i++) {
      connections[i % connections.length]!.send('GET', `${path}?watch=1&resourceVersion=${resourceVersion}`, {
        onStatus: () => {
          if (++open === watchers) resolve()
        },
        onData: piece => {
          bytes += piece.length
          for (let at = piece.indexOf(newline); at >= 0; at = piece.indexOf(newline, at + 1)) events++
        },
        onEnd: () => {
          if (!isOver) onFailure(new Error('a watch ended'))
        },
      })
    }
  })
  const started = performance.now()
  report({ type: 'begin' })
  let writes = 0
  const writer = async (name: string) => {
    while (performance.now() - started < milliseconds) {
      const version = String(Date.now() % 1e8).padStart(8, '0') + String(writes).padStart(8, '0')
      const patch = json({ metadata: { annotations: { 'example.com/version': version } } })
      const { status } = await ask(
        writing!,
        'PATCH',
        `${path}/${name}`,
        patch,
        'application/merge-patch+json',
      )
      if (status !== 200) throw new Error(`a patch was answered ${status}`)
      writes++
    }
  }
  await Promise.race([Promise.all(names.map(writer)), failed])
  const deadline = performance.now() + 20_000
  while (events < writes * watchers && performance.now() < deadline) {
    last = performance.now()
    await Promise.race([new Promise(resolve => setTimeout(resolve, 2)), failed])
  }
  if (events !== writes * watchers) throw new Error(`${events} events of ${writes * watchers} came`)
  last ||= performance.now()
  isOver = true
  for (const connection of [writing!, ...connections]) connection.close()
  return { count: events, bytes, milliseconds: last - started }
}
