import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { createRealEnv } from '@coxswain/kit'
import { loadSchedulerOptions } from './scheduler.ts'

const env = createRealEnv()
const head = 'apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n'

/** Files that are removed when the test ends. */
function scratch(files: Readonly<Record<string, string>>): { path(name: string): string } & Disposable {
  const directory = mkdtempSync(join(tmpdir(), 'coxswain-scheduler-'))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text)
  return {
    path: name => join(directory, name),
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  }
}

const plugin = "export default { name: 'Mine', filter: () => undefined }\n"

describe('the flags of the scheduler', () => {
  it('report the file that is invalid', async () => {
    using files = scratch({
      'unknown.yaml': `${head}profiles: [{plugins: {filter: {enabled: [{name: Foo}]}}}]\n`,
      'twice.yaml': `${head}parallelism: 1\nparallelism: 2\n`,
      'three.ts': 'export default 3\n',
      'broken.ts': 'export default {\n',
    })
    const configuration = (name: string) => loadSchedulerOptions({ schedulerConfig: files.path(name) }, env)
    const own = (name: string) => loadSchedulerOptions({ schedulerPlugin: [files.path(name)] }, env)
    await assert.rejects(configuration('none.yaml'), /--scheduler-config .*none\.yaml: does not exist/)
    await assert.rejects(configuration('unknown.yaml'), /unknown\.yaml: .* FilterPlugin "Foo" does not exist/)
    await assert.rejects(configuration('twice.yaml'), /twice\.yaml: strict decoding error: .*parallelism/)
    await assert.rejects(own('none.ts'), /--scheduler-plugin .*none\.ts: does not exist/)
    await assert.rejects(own('three.ts'), /three\.ts: the default export is not a plug-in/)
    await assert.rejects(own('broken.ts'), /--scheduler-plugin cannot be loaded: .*broken\.ts:1: /)
  })

  it('let a configuration enable plug-ins from files, or enable them without one', async () => {
    using files = scratch({
      'mine.ts': plugin,
      'made.ts': "export default { name: 'Made', create: () => ({ name: 'Made', score: () => 1 }) }\n",
      'config.yaml': `${head}profiles: [{plugins: {multiPoint: {enabled: [{name: Mine}, {name: Made}]}}}]\n`,
    })
    const schedulerPlugin = [files.path('mine.ts'), files.path('made.ts')]
    const { plugins } = await loadSchedulerOptions({ schedulerPlugin }, env)
    assert.deepEqual(
      plugins?.map(each => ('plugin' in each ? each.plugin.name : each.name)),
      ['Mine', 'Made'],
    )
    const schedulerConfig = files.path('config.yaml')
    const { profiles } = await loadSchedulerOptions({ schedulerPlugin, schedulerConfig }, env)
    const [profile] = profiles!(async () => {})
    assert.deepEqual(profile?.points?.filter.at(-1), 'Mine')
    assert.deepEqual(profile?.points?.score.at(-1), 'Made')
  })

  it('call extenders over HTTP, with their timeouts', async () => {
    const seen: string[] = []
    const server = createServer((request, response) => {
      seen.push(`${request.method} ${request.url}`)
      if (request.url?.endsWith('slow')) return
      request.resume()
      response.end(JSON.stringify({ nodenames: ['b'] }))
    }).listen(0, '127.0.0.1')
    await new Promise(resolve => server.once('listening', resolve))
    const { port } = server.address() as { port: number }
    const extender = (verb: string) =>
      `{urlPrefix: "http://127.0.0.1:${port}/api", filterVerb: ${verb}, nodeCacheCapable: true, httpTimeout: 200ms}`
    using files = scratch({ 'config.yaml': `${head}extenders: [${extender('pick')}, ${extender('slow')}]\n` })
    const { extenders } = await loadSchedulerOptions({ schedulerConfig: files.path('config.yaml') }, env)
    const [quick, slow] = extenders!
    const pod = { metadata: { name: 'p' }, spec: { containers: [] } } as never
    const nodes = [{ name: 'a' }, { name: 'b' }] as never
    const left = await quick!.filter(pod, nodes, new Map())
    assert.deepEqual(
      left.map(({ name }) => name),
      ['b'],
    )
    await assert.rejects(slow!.filter(pod, nodes, new Map()), /did not answer in 200 ms/)
    assert.deepEqual(seen, ['POST /api/pick', 'POST /api/slow'])
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
  })
})
