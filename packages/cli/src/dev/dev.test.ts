import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { ValidatingWebhookConfiguration } from '@coxswain/api/admissionregistration/v1'
import { ConfigMap } from '@coxswain/api/core/v1'
import { kindFor } from '@coxswain/client'
import { createClientFromKubeconfig } from '@coxswain/client/node'
import { createRealEnv } from '@coxswain/kit'
import { readBody } from '@coxswain/wire'
import { type Running, scratch, start, startIn } from '../test-support/commands.ts'

const env = createRealEnv()
const Widget = kindFor({
  group: 'example.com',
  version: 'v1',
  kind: 'Widget',
  resource: 'widgets',
  namespaced: true,
})

interface Parts {
  /** What is written into the ConfigMap of each Widget. */
  readonly text: string
  readonly columns?: string
}

/** Keeps a ConfigMap for each Widget, and rejects those that are too small. */
const operator = ({ text, columns = '{}' }: Parts) => `
import { ConfigMap } from '${import.meta.resolve('@coxswain/api/core/v1')}'
import { defineKind, s } from '${import.meta.resolve('@coxswain/apimachinery/kinds')}'
import * as field from '${import.meta.resolve('@coxswain/apimachinery/field')}'
import { defineOperator } from '${import.meta.resolve('@coxswain/runtime')}'
const Widget = defineKind({
  group: 'example.com',
  kind: 'Widget',
  versions: { v1: { spec: s.object({ size: s.int32() }), columns: ${columns} } },
})
export default defineOperator('widgets', operator => {
  operator.webhook(Widget.v1).validate(({ object }) => {
    if (object?.spec.size < 1) return [field.invalid(field.Path.of('spec', 'size'), object.spec.size, 'too small')]
  })
  operator.controller('widgets').for(Widget.v1).reconcile(async ({ key, client }) => {
    await client.apply(ConfigMap, { metadata: key, data: { text: '${text}' } }, { fieldManager: 'widgets', force: true })
  })
})
`

async function until<T>(what: string, look: () => Promise<T | undefined | false>): Promise<T> {
  for (let tries = 0; tries < 1_200; tries++) {
    const found = await look().catch(() => undefined)
    if (found) return found
    await env.clock.sleep(50)
  }
  return assert.fail(`never: ${what}`)
}

const accepts = (port: number): Promise<boolean> =>
  new Promise(resolve => {
    const socket = connect(port, '127.0.0.1')
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false))
    socket.on('connect', () => socket.destroy())
  })

async function portOf(dev: Running): Promise<number> {
  const [, port] = await dev.prints(/control plane ready at https:\/\/127\.0\.0\.1:(\d+),/)
  return Number(port)
}

describe('coxswain dev', () => {
  it('runs the operator beside a control plane, and again with its definition when the file is saved', async () => {
    using folder = scratch()
    const file = folder.file('operator.mjs', operator({ text: 'one' }))
    const dataDir = join(folder.path, '.coxswain')
    // What a deployment needs is nothing for this machine.
    folder.file(
      'coxswain.config.mjs',
      "export default { leaderElect: true, context: 'none', webhookService: 'system/hooks', kubeconfig: 'none', logLevel: 'warn' }",
    )
    await using dev = startIn(folder.path, 'dev', '--port', '0', '--data-dir', dataDir, file)
    const port = await portOf(dev)
    const [, kubeconfig = ''] = await dev.prints(/^ {2}export KUBECONFIG=(.+)$/m)
    assert.equal(kubeconfig, join(dataDir, 'kubeconfig'))
    await dev.prints(/customresourcedefinition widgets\.example\.com created\n/)
    await dev.prints(
      /kubectl get widgets\.example\.com -A --watch\n {2}kubectl explain widgets\.spec\n(.*\n)+.*Ctrl-C stops everything\.\n/,
    )
    await using connected = await createClientFromKubeconfig({ env, kubeconfig })
    const { client, transport } = connected
    const key = { namespace: 'default', name: 'first' }
    const textOf = async () => (await client.get(ConfigMap, key))?.data?.text
    await assert.rejects(client.create(Widget, { metadata: key, spec: { size: 0 } }), /too small/)
    await client.create(Widget, { metadata: key, spec: { size: 3 } })
    await until('it is reconciled', async () => (await textOf()) === 'one')

    const configuration = () => client.get(ValidatingWebhookConfiguration, { name: 'widgets' })
    const before = (await configuration())!.metadata

    folder.file('operator.mjs', operator({ text: 'two', columns: "{ Size: '.spec.size' }" }))
    await dev.prints(/customresourcedefinition widgets\.example\.com updated\n/)
    await dev.prints(/operator\.mjs changed, restarted in \d+ ms\n/)
    await until('the new code reconciles', async () => (await textOf()) === 'two')
    await until('the column is served', async () => {
      const answer = await transport.send({
        method: 'GET',
        path: '/apis/example.com/v1/namespaces/default/widgets',
        query: '',
        headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' },
        signal: new AbortController().signal,
      })
      const table = JSON.parse(new TextDecoder().decode(await readBody(answer.body)))
      const at = table.columnDefinitions.findIndex(({ name }: { name: string }) => name === 'Size')
      return at >= 0 && table.rows[0].cells[at] === 3
    })
    await assert.rejects(
      client.create(Widget, { metadata: { ...key, name: 'other' }, spec: { size: 0 } }),
      /too small/,
    )
    const { uid, resourceVersion } = (await configuration())!.metadata
    assert.deepEqual([uid, resourceVersion], [before.uid, before.resourceVersion], 'it was not written again')

    folder.file('operator.mjs', `${operator({ text: 'three' })}\nconst = 3`)
    await dev.prints(/operator cannot be loaded: .*operator\.mjs:\d+: .*\ncoxswain: waiting for a change\n/)
    assert.equal(await configuration(), undefined, 'nothing serves it')
    folder.file('operator.mjs', operator({ text: 'four' }))
    await until('the mended code reconciles', async () => (await textOf()) === 'four')
    assert.ok(await configuration())
    folder.file('operator.mjs', operator({ text: 'five' }).replace(/operator.webhook(.*\n){3}/, ''))
    await until('the webhook is removed', async () => (await configuration()) === undefined)

    assert.equal(await dev.stop('SIGINT'), 0)
    assert.equal(await accepts(port), false)
    assert.equal(dev.output().stdout.match(/Ctrl-C stops everything/g)?.length, 1)
    assert.doesNotMatch(dev.output().stderr, /^\{/m, 'logs are for people')

    // Its objects are kept; a file that cannot be loaded at the start is waited for.
    folder.file('operator.mjs', "import './absent.mjs'\nthrow new Error('not yet')")
    await using again = startIn(folder.path, 'dev', '--port', '0', '--data-dir', dataDir, file)
    await again.prints(/Cannot find module.*\ncoxswain: waiting for a change\n/)
    folder.file('absent.mjs', '')
    await again.prints(/operator\.mjs:2: not yet\ncoxswain: waiting for a change\n/)
    await using second = await createClientFromKubeconfig({ env, kubeconfig })
    assert.ok(await second.client.get(Widget, key))
    assert.equal(await again.stop('SIGINT'), 0, 'there was nothing to stop but the control plane')
  })

  it('ends its control plane and operators when it is killed', async () => {
    using folder = scratch()
    const file = folder.file('operator.mjs', operator({ text: 'one' }))
    const dataDir = join(folder.path, 'data')
    await using dev = start('dev', '--port', '0', '--storage', 'memory', '--data-dir', dataDir, file)
    const port = await portOf(dev)
    await dev.prints(/Ctrl-C stops everything/)
    dev.kill('SIGKILL')
    await dev.exited // the output is closed: nothing that could write to it is left
    assert.equal(await accepts(port), false)
  })

  it('says what is wrong and ends: a file that is not there, no file, a port in use', async () => {
    using folder = scratch()
    const dataDir = join(folder.path, 'data')
    const outcome = async (...args: string[]) => {
      await using dev = startIn(folder.path, 'dev', '--data-dir', dataDir, ...args)
      return { code: await dev.exited, ...dev.output() }
    }
    assert.deepEqual(await outcome('--port', '0', 'none.ts'), {
      code: 1,
      stdout: '',
      stderr: 'coxswain: operator cannot be loaded: none.ts: does not exist\n',
    })
    const none = await outcome('--port', '0')
    assert.deepEqual([none.code, none.stdout], [2, ''])
    assert.match(
      none.stderr,
      /^coxswain: no operators: name their files, or list them in coxswain\.config\.ts\n$/,
    )
    const file = folder.file('operator.mjs', operator({ text: 'one' }))
    const taken = createServer()
    await new Promise<void>(resolve => taken.listen(0, '127.0.0.1', resolve))
    const { port } = taken.address() as { port: number }
    assert.deepEqual(await outcome('--port', String(port), file), {
      code: 1,
      stdout: '',
      stderr: `coxswain: port ${port} of 127.0.0.1 is in use; choose another with --port, or 0 for any\n`,
    })
    taken.close()
    assert.equal(existsSync(dataDir), false)
  })
})
