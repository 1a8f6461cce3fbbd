import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { ConfigMap, Pod, ServiceAccount } from '@coxswain/api/core/v1'
import { kindFor } from '@coxswain/client'
import { createClientFromKubeconfig } from '@coxswain/client/node'
import { createRealEnv } from '@coxswain/kit'

const command = fileURLToPath(new URL('../../../coxswain/bin/coxswain.js', import.meta.url))
const runtime = import.meta.resolve('@coxswain/runtime')
const machinery = import.meta.resolve('@coxswain/apimachinery/kinds')

/** A command that runs, and what it has printed. */
interface Running extends AsyncDisposable {
  readonly output: () => { stdout: string; stderr: string }
  /** Resolves when what it printed matches. */
  prints(pattern: RegExp): Promise<RegExpExecArray>
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

function start(...args: string[]): Running {
  const child: ChildProcess = spawn(process.execPath, [command, ...args])
  let stdout = ''
  let stderr = ''
  const listeners = new Set<() => void>()
  const hear = () => {
    for (const listener of listeners) listener()
  }
  child.stdout!.on('data', chunk => {
    stdout += chunk
    hear()
  })
  child.stderr!.on('data', chunk => {
    stderr += chunk
    hear()
  })
  const exited = new Promise<number | null>(resolve => child.on('close', resolve))
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal)
    return await exited
  }
  return {
    output: () => ({ stdout, stderr }),
    prints: pattern =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = pattern.exec(stdout + stderr)
          if (found) resolve(found)
          return found !== null
        }
        if (look()) return
        listeners.add(look)
        exited.then(code => look() || reject(new Error(`it ended with code ${code}\n${stdout}${stderr}`)))
      }),
    stop,
    [Symbol.asyncDispose]: async () => void (await stop('SIGKILL')),
  }
}

async function launch(...args: string[]) {
  const directory = mkdtempSync(join(tmpdir(), 'coxswain-run-'))
  const kubeconfig = join(directory, 'kubeconfig')
  const up = (port: string) =>
    start('up', '--port', port, '--data-dir', join(directory, 'data'), '--kubeconfig', kubeconfig, ...args)
  const first = up('0')
  const [, port = ''] = await first.prints(/coxswain is ready at https:\/\/127\.0\.0\.1:(\d+)/)
  const connected = await createClientFromKubeconfig({ env: createRealEnv(), kubeconfig })
  const file = (name: string, content: string) => {
    const path = join(directory, name)
    writeFileSync(path, content)
    return path
  }
  return {
    up: first,
    upAgain: () => up(port),
    client: connected.client,
    file,
    run: (...more: string[]) => start('run', '--kubeconfig', kubeconfig, ...more),
    async [Symbol.asyncDispose]() {
      await connected[Symbol.asyncDispose]()
      await first[Symbol.asyncDispose]()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** An operator of one kind with this field in its spec. */
const operatorWith = (field: string, webhook = '') => `
import { defineKind, s } from '${machinery}'
import { defineOperator } from '${runtime}'
const Widget = defineKind({ group: 'example.com', kind: 'Widget', versions: { v1: { spec: s.object({ ${field}: s.string() }) } } })
export default defineOperator('widgets', operator => {
  ${webhook}
  operator.controller('widgets').for(Widget.v1).reconcile(async () => {})
})
`

describe('coxswain up', () => {
  it('says that it is ready when a Pod can be created and scheduled, not before', async () => {
    await using cluster = await launch('--storage', 'memory')
    const { client } = cluster
    const namespace = 'default'
    await client.create(Pod, {
      metadata: { namespace, name: 'first' },
      spec: { containers: [{ name: 'c', image: 'nginx' }] },
    })
    assert.ok(await client.get(ServiceAccount, { namespace, name: 'default' }))
    assert.ok(await client.get(ConfigMap, { namespace, name: 'kube-root-ca.crt' }))
    assert.equal(cluster.up.output().stderr, '')
    assert.equal(await cluster.up.stop(), 0)
  })
})

describe('coxswain run', () => {
  it('says which definitions are missing and how to install them, then what it did to them', async () => {
    await using cluster = await launch('--storage', 'memory')
    const file = cluster.file('operator.mjs', operatorWith('size'))
    {
      await using run = cluster.run(file)
      await run.prints(
        /not installed: customresourcedefinition widgets\.example\.com; to install it, run: coxswain run --install .*operator\.mjs/,
      )
      await run.prints(
        /"missing":\[\{"cache":"widgets.v1.example.com","reason":"the server does not serve it/,
      )
      assert.equal(await run.stop(), 0)
    }
    for (const [field, change] of [
      ['size', 'created'],
      ['size', 'unchanged'],
      ['color', 'updated'],
    ] as const) {
      await using run = cluster.run('--install', cluster.file(`${change}.mjs`, operatorWith(field)))
      await run.prints(new RegExp(`customresourcedefinition widgets\\.example\\.com ${change}\\n`))
      assert.equal(await run.stop(), 0)
    }
    {
      await using run = cluster.run(file)
      await run.prints(
        /not as this operator defines it: customresourcedefinition widgets\.example\.com; to update it, run: coxswain run --install/,
      )
      assert.equal(await run.stop(), 0)
    }
    const other = operatorWith('size').replace('versions', "scope: 'Cluster', versions")
    await using refused = cluster.run('--install', cluster.file('other.mjs', other))
    await refused.prints(
      /^coxswain: customresourcedefinition widgets\.example\.com is not updated: its scope would change/m,
    )
    assert.doesNotMatch(refused.output().stderr, /\n {4}at /)
  })

  it('keeps the webhook configurations of a process that still runs', async () => {
    await using cluster = await launch('--storage', 'memory')
    const file = cluster.file(
      'operator.mjs',
      operatorWith('size', 'operator.webhook(Widget.v1).validate(() => {})'),
    )
    const Configuration = kindFor({
      group: 'admissionregistration.k8s.io',
      version: 'v1',
      kind: 'ValidatingWebhookConfiguration',
      resource: 'validatingwebhookconfigurations',
      namespaced: false,
    })
    const urlOf = async () => {
      const configuration = await cluster.client.get(Configuration, { name: 'widgets' })
      const [webhook] = (configuration?.webhooks ?? []) as { clientConfig: { url: string } }[]
      return webhook?.clientConfig.url
    }
    const until = async (holds: (url: string | undefined) => boolean) => {
      for (;;) {
        const url = await urlOf()
        if (holds(url)) return url
        await createRealEnv().clock.sleep(50)
      }
    }
    await using first = cluster.run('--install', file)
    const firstUrl = await until(url => url !== undefined)
    await using second = cluster.run('--install', file)
    const secondUrl = await until(url => url !== firstUrl)
    assert.ok(secondUrl)
    assert.equal(await second.stop(), 0)
    assert.equal(await urlOf(), firstUrl, 'it leads to the one that still runs')
    assert.equal(await first.stop(), 0)
    assert.equal(await urlOf(), undefined, 'the last one takes it away')
  })

  it('says once that the server went away and once that it is back', async () => {
    await using cluster = await launch()
    await using run = cluster.run('--install', cluster.file('operator.mjs', operatorWith('size')))
    await run.prints(/ created\n/)
    await createRealEnv().clock.sleep(1_000)
    await cluster.up.stop('SIGKILL')
    await run.prints(/the API server cannot be reached/)
    await createRealEnv().clock.sleep(3_000)
    await using _again = cluster.upAgain()
    await run.prints(/the API server answers again/)
    assert.equal(await run.stop(), 0)
    const lines = run.output().stderr.trim().split('\n').slice(1)
    assert.equal(lines.length, 2, lines.join('\n'))
    assert.ok(!lines.some(line => line.includes('"stack"')))
  })
})
