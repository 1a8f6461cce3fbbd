import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { ConfigMap } from '@coxswain/api/core/v1'
import { readYaml } from '@coxswain/apimachinery/yaml'
import { createClientFromKubeconfig } from '@coxswain/client/node'
import { createRealEnv } from '@coxswain/kit'
import { start } from '../../packages/cli/src/test-support/commands.ts'

const key = { namespace: 'default', name: 'prepared' }

describe('coxswain cluster', () => {
  let folder: string
  let kubeconfig: string
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'cx-'))
    kubeconfig = join(folder, 'config')
    process.env.COXSWAIN_CLUSTERS = join(folder, 'clusters')
    process.env.KUBECONFIG = kubeconfig
    const others = {
      'current-context': 'mine',
      contexts: [{ name: 'mine', context: { cluster: 'x', user: 'y' } }],
    }
    writeFileSync(
      kubeconfig,
      JSON.stringify({ apiVersion: 'v1', kind: 'Config', preferences: { colors: true }, ...others }),
    )
  })
  after(async () => {
    for (const name of existsSync(join(folder, 'clusters')) ? readdirSync(join(folder, 'clusters')) : [])
      await cluster('delete', name)
    rmSync(folder, { recursive: true, force: true })
  })

  const cluster = async (...args: string[]) => {
    await using command = start('cluster', ...args)
    const code = await command.exited
    return { code, ...command.output() }
  }
  const contexts = () => {
    const config = readYaml(readFileSync(kubeconfig, 'utf8'))!.value as {
      'current-context'?: string
      contexts: { name: string }[]
    }
    return { current: config['current-context'] ?? '', names: config.contexts.map(({ name }) => name) }
  }
  const ask = async <T>(
    context: string,
    question: (client: Awaited<ReturnType<typeof connect>>['client']) => Promise<T>,
  ) => {
    await using connected = await connect(context)
    return await question(connected.client)
  }
  const connect = (context: string) =>
    createClientFromKubeconfig({ env: createRealEnv(), kubeconfig, context })

  it('starts clusters side by side, forks, saves, restores and deletes them, with their contexts', async () => {
    const created = await cluster('create', 'one', '--', '--controllers=none')
    assert.equal(created.code, 0, created.stderr)
    assert.deepEqual(contexts(), { current: 'coxswain-one', names: ['mine', 'coxswain-one'] })
    await ask('coxswain-one', client =>
      client.create(ConfigMap, { metadata: key, data: { state: 'before' } }),
    )

    assert.equal((await cluster('fork', 'one', 'two')).code, 0)
    await ask('coxswain-two', async client => {
      assert.equal((await client.get(ConfigMap, key))?.data?.state, 'before')
      await client.delete(ConfigMap, key)
    })
    assert.equal((await ask('coxswain-one', client => client.get(ConfigMap, key)))?.data?.state, 'before')

    const file = join(folder, 'saved')
    assert.equal((await cluster('save', 'one', file)).code, 0)
    assert.equal((await cluster('restore', 'two', file)).code, 0)
    assert.equal((await ask('coxswain-two', client => client.get(ConfigMap, key)))?.data?.state, 'before')

    assert.match(
      (await cluster('list')).stdout,
      /^NAME .*\none +Running +coxswain-one +https.*\ntwo +Running/,
    )
    assert.equal((await cluster('delete', 'two')).code, 0)
    assert.deepEqual(contexts(), { current: '', names: ['mine', 'coxswain-one'] })
    assert.equal((await cluster('delete', 'one')).code, 0)
    assert.deepEqual(contexts(), { current: '', names: ['mine'] })
    assert.match(readFileSync(kubeconfig, 'utf8'), /colors: true/)
    assert.equal((await cluster('list')).stdout, 'there are no clusters\n')
  })

  it('says what is wrong, and leaves nothing behind', async () => {
    assert.match((await cluster('delete', 'none')).stderr, /there is no cluster none/)
    assert.equal((await cluster('create', '../up')).code, 2)
    const failed = await cluster('create', 'bad', '--', '--storage=nowhere')
    assert.match(failed.stderr, /the cluster did not start:\ncoxswain: .*--storage/)
    assert.deepEqual(readdirSync(join(folder, 'clusters')), [])
  })
})
