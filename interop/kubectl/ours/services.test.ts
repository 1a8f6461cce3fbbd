import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { type RunningServer, startServer } from '../../support/coxswain.ts'
import { eventually } from '../../support/eventually.ts'
import { freePort } from '../../support/free-port.ts'
import { createClusterSession, createSession, type Session } from '../session.ts'

const directory = mkdtempSync(join(tmpdir(), 'services-'))
after(() => rmSync(directory, { recursive: true, force: true }))

/** A Deployment whose program listens on a port that only the Pod's port `main` tells. */
function deployment(
  name: string,
  script: string,
  port: number,
  { protocol = 'TCP', more = {} } = {},
): string {
  const probe = { tcpSocket: { port: 'main' }, periodSeconds: 1 }
  const labels = { app: name.replace(/-.*/, ''), part: name }
  const container = {
    name: 'main',
    image: 'node',
    // The first process of a PID namespace ends on SIGTERM only if it says so.
    command: [process.execPath, '-e', `process.on('SIGTERM', () => process.exit());${script}`],
    ports: [{ name: 'main', containerPort: port, protocol }],
    ...(protocol === 'TCP' && { readinessProbe: probe }),
    ...more,
  }
  const file = join(directory, `${name}.json`)
  const template = {
    metadata: { labels },
    spec: { terminationGracePeriodSeconds: 60, containers: [container] },
  }
  const spec = { selector: { matchLabels: labels }, template }
  writeFileSync(file, JSON.stringify({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name }, spec }))
  return file
}

const httpServer = (name: string, port: number, host = '') =>
  `require('http').createServer((q, r) => r.end('${name}')).listen(${port}${host && `, '${host}'`})`

/** Nothing is kept alive: every request is a connection. Rejects when there is no whole answer. */
async function ask(host: string, port: number | string): Promise<string> {
  const answer = await fetch(`http://${host}:${port}/`, { headers: { connection: 'close' } })
  return await answer.text()
}

async function isRefused(host: string, port: number | string): Promise<boolean> {
  try {
    await ask(host, port)
    return false
  } catch (error) {
    return (error as { cause?: { code?: string } }).cause?.code === 'ECONNREFUSED'
  }
}

// Others may run the same on this machine.
const network = 64 + (process.pid % 128)
const reservedNodePort = 30_000 + (process.pid % 86)
/** The second endpoint does not end as long as this is there. */
const hold = join(directory, 'hold')

describe('services on the machine itself', () => {
  let server: RunningServer
  let [portA, portB, portC] = [0, 0, 0]
  let session: Session
  const read = (path: string, what: string) => session.ok(`get ${what} -o jsonpath={${path}}`)
  /** Where a Service answers. */
  const addressesOf = async (name: string) => {
    const clusterIP = await read('.spec.clusterIP', `service ${name}`)
    const nodePort = await read('.spec.ports[0].nodePort', `service ${name}`)
    return { host: clusterIP.replace(/^10\./, '127.'), nodePort }
  }
  before(async () => {
    for (;;) {
      ;[portA, portB, portC] = [await freePort(), await freePort(), await freePort()]
      if (new Set([portA, portB, portC]).size === 3) break
    }
    server = await startServer('--runtime', 'process', '--service-cluster-ip-range', `10.${network}.0.0/16`)
    session = await createClusterSession(server, '1.36', 'services')
    // One at all addresses of the machine, the other at one only.
    const preStop = { exec: { command: ['sh', '-c', `while test -e ${hold}; do sleep 0.1; done`] } }
    const more = { lifecycle: { preStop } }
    await session.ok(`apply -f ${deployment('web-a', httpServer('a', portA), portA)}`)
    await session.ok(`apply -f ${deployment('web-b', httpServer('b', portB, '127.0.0.1'), portB, { more })}`)
    await session.ok('wait --for=condition=Available deploy/web-a deploy/web-b --timeout=120s')
    await session.ok(
      'expose deployment web-a --name web --selector app=web --type NodePort --port 8080 --target-port main',
      'service/web exposed',
    )
  })
  after(async () => {
    session?.[Symbol.dispose]()
    await server?.[Symbol.asyncDispose]()
  })

  it('answer at their node port and at the loopback address of their cluster IP, from all endpoints in turn', async () => {
    const { host, nodePort } = await addressesOf('web')
    const hasBoth = async () => new Set([await ask(host, 8080), await ask(host, 8080)]).size === 2
    await eventually('both endpoints', hasBoth)
    const places = [
      [host, 8080],
      ['127.0.0.1', nodePort],
    ] as const
    for (const [address, port] of places) {
      const answers: string[] = []
      for (let count = 0; count < 6; count++) answers.push(await ask(address, port))
      assert.deepEqual(answers.sort(), ['a', 'a', 'a', 'b', 'b', 'b'])
    }
  })

  it('keep a client at one endpoint with session affinity', async () => {
    const { nodePort } = await addressesOf('web')
    await session.ok(`patch service web -p '{"spec":{"sessionAffinity":"ClientIP"}}'`)
    const answers = async () => {
      const all: string[] = []
      for (let count = 0; count < 5; count++) all.push(await ask('127.0.0.1', nodePort))
      return new Set(all)
    }
    await eventually('affinity', async () => (await answers()).size === 1)
    await session.ok(`patch service web -p '{"spec":{"sessionAffinity":"None"}}'`)
    await eventually('no affinity', async () => (await answers()).size === 2)
  })

  it('leave out an endpoint that goes while it still runs, and lose no connection', async () => {
    const { host } = await addressesOf('web')
    writeFileSync(hold, '')
    await session.ok('scale deployment web-b --replicas=0')
    const lost: unknown[] = []
    const answer = () => ask(host, 8080).catch(error => lost.push(error))
    await eventually('only one', async () => {
      const answers = [await answer(), await answer(), await answer()]
      return answers.join('') === 'aaa'
    })
    assert.deepEqual(lost, [])
    await session.ok('get pods -l part=web-b', /^web-b-\S+ +1\/1 +Terminating/m)
    assert.equal(await ask('127.0.0.1', portB), 'b')
    rmSync(hold)
    await session.ok('wait --for=delete pod -l part=web-b --timeout=120s')
    assert.equal(await ask(host, 8080), 'a')
  })

  it('refuse connections when they have no endpoint', async () => {
    const { host, nodePort } = await addressesOf('web')
    // An endpoint that ends is used as long as there is no other: some connections may be cut off.
    await session.ok('scale deployment web-a --replicas=0')
    await eventually(
      'refused',
      async () => (await isRefused(host, 8080)) && (await isRefused('127.0.0.1', nodePort)),
    )
    await session.ok('scale deployment web-a --replicas=1')
    assert.equal(await eventually('back', () => ask('127.0.0.1', nodePort)), 'a')
  })

  it('do not cut off who is connected when they go', async () => {
    await session.ok('expose deployment web-a --name brief --type NodePort --port 8081 --target-port main')
    const { host } = await addressesOf('brief')
    await eventually('it answers', () => ask(host, 8081))
    const socket: Socket = connect(8081, host)
    await once(socket, 'connect')
    socket.write('GET / HTTP/1.1\r\nhost: brief\r\n')
    await session.ok('delete service brief')
    await eventually('refused', async () => await isRefused(host, 8081))
    socket.write('connection: close\r\n\r\n')
    let answer = ''
    for await (const chunk of socket) answer += chunk
    assert.match(answer, /^HTTP\/1\.1 200 OK[\s\S]*\r\n\r\na$/)
  })

  it('let a Pod that listens at all addresses answer by itself where the ports are the same', async () => {
    await session.ok(`expose deployment web-a --name same --port ${portA}`)
    const { host } = await addressesOf('same')
    assert.equal(await eventually('it answers', () => ask(host, portA)), 'a')
    await session.ok('get events --field-selector involvedObject.name=same', '')
  })

  it('are found by Pods through their variables', async () => {
    const script = `fetch("http://" + process.env.WEB_SERVICE_HOST + ":" + process.env.WEB_SERVICE_PORT)
      .then(answer => answer.text()).then(text => console.log("answered " + text))`
    const command = ['run', 'client', '--image=node', '--restart=Never', '--command', '--']
    const { stderr, code } = await session.kubectl(...command, process.execPath, '-e', script)
    assert.equal(code, 0, stderr)
    await session.ok('wait --for=jsonpath={.status.phase}=Succeeded pod/client --timeout=120s')
    await session.ok('logs client', 'answered a')
  })

  it('carry packets too', async () => {
    const script = `const s = require('dgram').createSocket('udp4');
      s.on('message', (m, r) => s.send('got ' + m, r.port, r.address)).bind(${portC})`
    await session.ok(`apply -f ${deployment('echo', script, portC, { protocol: 'UDP' })}`)
    await session.ok('wait --for=condition=Available deploy/echo --timeout=120s')
    await session.ok('expose deployment echo --port 5353 --protocol UDP --target-port main')
    const { host } = await addressesOf('echo')
    const client = createSocket('udp4')
    const got = once(client, 'message')
    await eventually('an answer', async () => {
      client.send('it', 5353, host)
      return await Promise.race([got.then(() => true), setTimeout(100, false)])
    })
    const [data] = await got
    assert.equal(String(data), 'got it')
    client.close()
  })

  it('say so when their port is in use, and take it when it is free', async () => {
    const rival = createServer().listen(reservedNodePort, '127.0.0.1')
    await once(rival, 'listening')
    await session.ok(`create service nodeport blocked --tcp=8082:${portA} --node-port=${reservedNodePort}`)
    await session.ok(`patch service blocked -p '{"spec":{"selector":{"app":"web"}}}'`)
    const port = `tcp/127.0.0.1:${reservedNodePort}`
    await session.until(
      'get events --field-selector involvedObject.name=blocked',
      new RegExp(`Warning +PortUnavailable +service/blocked +can't open port ${port}`),
    )
    rival.close()
    assert.equal(await eventually('it answers', () => ask('127.0.0.1', reservedNodePort)), 'a')
  })

  it('show their proxy as kubeadm does', async () => {
    await session.until('get pods -n kube-system -l k8s-app=kube-proxy', /^kube-proxy-node-1 +1\/1 +Running/m)
    await session.ok(
      'logs -n kube-system kube-proxy-node-1',
      /"opened a Service port" .*service="services\/web::TCP"/,
    )
  })

  it('include the API server, whose certificate is good for both of its addresses', async () => {
    const path = '.clusters[0].cluster.certificate-authority-data'
    const ca = Buffer.from(await session.ok(`config view --raw -o jsonpath={${path}}`), 'base64')
    const status = () =>
      new Promise<string>(resolve => {
        const sent = request(
          { host: `127.${network}.0.1`, port: 443, path: '/healthz', ca, agent: false },
          answer => {
            answer.resume()
            resolve(String(answer.statusCode))
          },
        )
        sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
        sent.end()
      })
    await eventually('an answer, or a word why there is none', async () => {
      // Without privileges port 443 cannot be bound.
      const events = await session.ok('get events -n default --field-selector involvedObject.name=kubernetes')
      return (await status()) === '200' || /PortUnavailable .*permission denied/.test(events)
    })
  })
})

describe('services without a proxy', () => {
  it('show none', async () => {
    await using server = await startServer('--runtime', 'process', '--service-proxy', 'false')
    using session = await createSession(server, '1.36', 'silent')
    await session.until('get pods -n kube-system -o name', /^pod\/kube-scheduler-node-1$/m)
    await session.ok('get pods -n kube-system -l k8s-app=kube-proxy -o name', '')
  })
})
