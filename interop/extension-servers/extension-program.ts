/** Real extension API servers as processes of this machine, registered behind the server under test. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRealEnv } from '@coxswain/kit'
import { createCertificate } from '@coxswain/wire/node'
import { type Caller, create } from '../aggregation/facts.ts'
import { root } from '../support/coxswain.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'

export interface Program extends AsyncDisposable {
  /** SIGKILL. */
  kill(): Promise<void>
  start(): void
}

export interface ExtensionProgram extends Program {
  readonly port: number
  /** PEM of the CA of its certificate. */
  readonly ca: string
}

export interface ExtensionProgramOptions {
  /** Its name in `.cache/bin`, and that of its Service. */
  readonly name: string
  readonly kubeconfig: string
  readonly args: readonly string[]
}

function runProgram(file: string, args: readonly string[]): Program {
  let child: ChildProcess | undefined
  let said = ''
  const start = () => {
    child = spawn(file, args, { stdio: ['ignore', 'ignore', 'pipe'] })
    child.stderr?.on('data', chunk => {
      said = (said + String(chunk)).slice(-8_000)
    })
    child.on('exit', code => {
      if (code) process.stderr.write(`${file} ended with code ${code}:\n${said}\n`)
    })
  }
  const kill = async () => {
    const { exitCode, signalCode } = child ?? {}
    if (!child || typeof exitCode === 'number' || typeof signalCode === 'string') return
    const ended = new Promise<void>(resolve => child?.on('exit', () => resolve()))
    child.kill('SIGKILL')
    await ended
  }
  start()
  return { start, kill, [Symbol.asyncDispose]: kill }
}

/** Starts it with a certificate for `NAME.aggregation.svc`; it reads the front proxy's CA from the server under test. */
export function startExtension(
  { name, kubeconfig, args }: ExtensionProgramOptions,
  port: number,
): ExtensionProgram {
  const folder = mkdtempSync(join(tmpdir(), `coxswain-${name}-`))
  const { random } = createRealEnv()
  const times = { notBefore: Date.now() - 3_600_000, notAfter: Date.now() + 86_400_000 }
  const ca = createCertificate({ subject: { commonName: 'ca' }, usages: ['ca'], ...times }, random)
  const pair = createCertificate(
    {
      subject: { commonName: name },
      usages: ['server'],
      hosts: [`${name}.aggregation.svc`, '127.0.0.1'],
      ...times,
    },
    random,
    ca,
  )
  writeFileSync(join(folder, 'tls.crt'), pair.certificate)
  writeFileSync(join(folder, 'tls.key'), pair.key, { mode: 0o600 })
  const program = runProgram(join(root, '.cache/bin', name), [
    `--secure-port=${port}`,
    `--tls-cert-file=${join(folder, 'tls.crt')}`,
    `--tls-private-key-file=${join(folder, 'tls.key')}`,
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    ...args,
  ])
  return {
    ...program,
    port,
    ca: ca.certificate,
    async [Symbol.asyncDispose]() {
      await program.kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** etcd in a folder of its own; its URL is `http://127.0.0.1:PORT`. */
export async function startEtcd(): Promise<Program & { readonly url: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-etcd-'))
  const [client, peer] = [await freePort(), await freePort()]
  const url = `http://127.0.0.1:${client}`
  const peerUrl = `http://127.0.0.1:${peer}`
  const program = runProgram(join(root, '.cache/bin/etcd-3.6'), [
    `--data-dir=${folder}`,
    `--listen-client-urls=${url}`,
    `--advertise-client-urls=${url}`,
    `--listen-peer-urls=${peerUrl}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
    `--initial-cluster=default=${peerUrl}`,
    '--log-level=error',
  ])
  return {
    ...program,
    url,
    async [Symbol.asyncDispose]() {
      await program.kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A Service that leads to the port, and an APIService for each group and version. */
export async function registerProgram(
  caller: Caller,
  name: string,
  { port, ca }: Pick<ExtensionProgram, 'port' | 'ca'>,
  groupVersions: readonly { readonly group: string; readonly version: string; readonly priority: number }[],
): Promise<void> {
  await create(caller, '/api/v1/namespaces', { metadata: { name: 'aggregation' } })
  await create(caller, '/api/v1/namespaces/aggregation/services', {
    metadata: { name },
    spec: { type: 'ExternalName', externalName: 'localhost' },
  })
  for (const { group, version, priority } of groupVersions)
    await create(caller, '/apis/apiregistration.k8s.io/v1/apiservices', {
      metadata: { name: `${version}.${group}` },
      spec: {
        group,
        version,
        groupPriorityMinimum: 1000,
        versionPriority: priority,
        service: { namespace: 'aggregation', name, port },
        caBundle: Buffer.from(ca).toString('base64'),
      },
    })
}

/** Waits for the condition `Available` of an APIService to have this reason. */
export async function waitForReason(caller: Caller, name: string, reason: string): Promise<void> {
  await eventually(`${name}: ${reason}`, async () => {
    const { text } = await caller.send('GET', `/apis/apiregistration.k8s.io/v1/apiservices/${name}`)
    return JSON.parse(text).status?.conditions?.[0]?.reason === reason
  })
}

/** A direct request to an extension API server, past the aggregator. */
export function callDirectly(
  port: number,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const call = request(
      { host: '127.0.0.1', port, path, headers, rejectUnauthorized: false, agent: false },
      response => {
        let text = ''
        response.on('data', chunk => {
          text += String(chunk)
        })
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
      },
    )
    call.on('error', reject)
    call.end()
  })
}
