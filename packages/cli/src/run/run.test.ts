import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Lease } from '@coxswain/api/coordination/v1'
import { ConfigMap, Pod, ServiceAccount } from '@coxswain/api/core/v1'
import { kindFor } from '@coxswain/client'
import { createRealEnv } from '@coxswain/kit'
import { launch, scratch, startIn } from '../test-support/commands.ts'

const runtime = import.meta.resolve('@coxswain/runtime')
const machinery = import.meta.resolve('@coxswain/apimachinery/kinds')

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
  it('reports ready only when a Pod can be created and scheduled', async () => {
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
  it('reports missing CRDs and how to install them, then what it did to them', async () => {
    await using cluster = await launch('--storage', 'memory', '--controllers', 'none')
    const file = cluster.file('operator.mjs', operatorWith('size'))
    {
      await using run = cluster.run(file)
      await run.prints(
        /not installed: customresourcedefinition widgets\.example\.com; to install it, run: coxswain run --install .*operator\.mjs/,
      )
      await run.prints(/"missing":"widgets.v1.example.com","reason":"the server does not serve it/)
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
        /differs from the definition of this operator: customresourcedefinition widgets\.example\.com; to update it, run: coxswain run --install/,
      )
      assert.equal(await run.stop(), 0)
    }
    const other = operatorWith('size').replace('versions', "scope: 'Cluster', versions")
    await using refused = cluster.run('--install', cluster.file('other.mjs', other))
    await refused.prints(
      /^coxswain: customresourcedefinition widgets\.example\.com was not updated: its scope would change/m,
    )
    assert.doesNotMatch(refused.output().stderr, /\n {4}at /)
  })

  it('keeps the webhook configurations of a process that still runs', async () => {
    await using cluster = await launch('--storage', 'memory', '--controllers', 'none')
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
    assert.equal(await urlOf(), firstUrl, 'it points to the one that still runs')
    assert.equal(await first.stop(), 0)
    assert.equal(await urlOf(), undefined, 'the last one removes it')
  })

  it('logs once that the server is unreachable and once that it is back', async () => {
    await using cluster = await launch('--controllers', 'none')
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

describe('an operator that cannot be run', () => {
  const broken = (setup: string, before = '') => `
import { defineOperator } from '${runtime}'
${before}
export default defineOperator('broken', ${setup})
`
  const cases: readonly (readonly [name: string, text: string, code: number, message: RegExp])[] = [
    [
      'throws.mjs',
      broken("() => { throw new Error('no') }"),
      1,
      /^coxswain: operator cannot be set up: \S*throws\.mjs:4: no\n$/,
    ],
    ['async.mjs', broken('async () => {}'), 2, /^coxswain: operator broken: setup must not be async; .*\n$/],
    [
      'forever.mjs',
      broken('() => {}', 'await new Promise(() => {})'),
      1,
      /^coxswain: operator cannot be loaded: \S*forever\.mjs: its top-level await never settles\n$/,
    ],
  ]
  for (const [name, text, code, message] of cases) {
    it(`is reported in one line: ${name}`, async () => {
      using folder = scratch()
      const kubeconfig = folder.file('kubeconfig', deadKubeconfig)
      await using run = startIn(folder.path, 'run', '--kubeconfig', kubeconfig, folder.file(name, text))
      assert.equal(await run.exited, code)
      assert.match(run.output().stderr, message)
    })
  }

  it('is reported in one line when its definitions cannot be installed', async () => {
    using folder = scratch()
    const kubeconfig = folder.file('kubeconfig', deadKubeconfig)
    const file = folder.file('operator.mjs', operatorWith('size'))
    await using run = startIn(folder.path, 'run', '--install', '--kubeconfig', kubeconfig, file)
    assert.equal(await run.exited, 1)
    assert.match(run.output().stderr, /^coxswain: the API server cannot be reached: 127\.0\.0\.1:1: /m)
    assert.doesNotMatch(run.output().stderr, /\n {4}at /)
  })
})

const deadKubeconfig = `apiVersion: v1
kind: Config
current-context: dead
clusters: [{ name: dead, cluster: { server: 'http://127.0.0.1:1' } }]
contexts: [{ name: dead, context: { cluster: dead, user: '' } }]
`

describe('coxswain.config.ts', () => {
  it('says what coxswain run runs and how, and is read again with --watch when it is saved', async () => {
    await using cluster = await launch('--storage', 'memory', '--controllers', 'none')
    using folder = scratch()
    folder.file('package.json', '{ "type": "module" }')
    folder.file('operator.mjs', operatorWith('size'))
    const configure = (id: string) =>
      folder.file(
        'coxswain.config.ts',
        `import { defineConfig } from '${import.meta.resolve('../host/config.ts')}'
        export default defineConfig({
          operators: ['operator.mjs'],
          kubeconfig: '${cluster.kubeconfig}',
          install: true,
          leaderElect: true,
          leaderElectionId: '${id}',
          leaderElectionNamespace: 'default',
        })`,
      )
    configure('one')
    await using run = startIn(folder.path, 'run', '--watch')
    await run.prints(/customresourcedefinition widgets\.example\.com created\n/)
    const leader = async (name: string) =>
      (await cluster.client.get(Lease, { namespace: 'default', name }))?.spec?.holderIdentity
    const until = async (what: string, holds: () => Promise<boolean>) => {
      for (let tries = 0; tries < 1_200; tries++) {
        if (await holds()) return
        await createRealEnv().clock.sleep(50)
      }
      assert.fail(`never: ${what}`)
    }
    await until('it leads', async () => Boolean(await leader('one')))
    configure('two')
    await run.prints(/coxswain\.config\.ts changed, restarted in \d+ ms\n/)
    await until('it leads under the other name', async () => Boolean(await leader('two')))
    assert.equal((await leader('one')) ?? '', '', 'the first lease was released')
    folder.file('coxswain.config.ts', 'export default { leaderElects: true }')
    await run.prints(/coxswain\.config\.ts: unknown setting leaderElects\ncoxswain: waiting for a change\n/)
    assert.equal(await run.stop('SIGINT'), 0)
  })
})

describe('coxswain run --watch', () => {
  it('restarts the operator when a file that it imports is saved, and waits when it cannot be loaded', async () => {
    await using cluster = await launch('--storage', 'memory', '--controllers', 'none')
    const write = (text: string) => cluster.file('text.mjs', `export const text = '${text}'\n`)
    write('one')
    const file = cluster.file(
      'operator.mjs',
      `import { ConfigMap } from '${import.meta.resolve('@coxswain/api/core/v1')}'
      import { defineOperator } from '${runtime}'
      import { text } from './text.mjs'
      export default defineOperator('texts', operator => {
        operator.controller('texts').for(ConfigMap).reconcile(async () => {})
        operator.task('print', async () => void process.stdout.write('text is ' + text + '\\n'))
      })`,
    )
    await using run = cluster.run('--watch', file)
    await run.prints(/text is one\n/)
    write('two')
    await run.prints(/text\.mjs changed, restarted in \d+ ms\n/)
    await run.prints(/text is two\n/)
    cluster.file('text.mjs', 'export const = 3\n')
    await run.prints(/operator cannot be loaded: .*\ncoxswain: waiting for a change\n/)
    write('four')
    await run.prints(/text is four\n/)
    assert.equal(await run.stop('SIGINT'), 0)
    await using absent = cluster.run('--watch', `${file}.absent`)
    assert.equal(await absent.exited, 1, 'there is nothing to watch')
  })
})
