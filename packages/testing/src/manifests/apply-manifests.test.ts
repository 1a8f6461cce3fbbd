import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import { ConfigMap, Namespace, Pod } from '@coxswain/api/core/v1'
import { isConflict, isInvalid, newServiceUnavailable } from '@coxswain/apimachinery/status'
import { VirtualWorld } from '@coxswain/kit'
import { startCluster } from '../cluster.ts'

const mapText = (name: string, more = '') =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}${more}\n`
const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'things.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'things', singular: 'thing', kind: 'Thing' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
}

function folderOf(files: Readonly<Record<string, string>>): { readonly path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), 'coxswain-manifests-'))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(path, name)), { recursive: true })
    writeFileSync(join(path, name), text)
  }
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true }) }
}

describe('applying manifests', () => {
  it('takes folders, files, text and objects; definitions and namespaces come first', async () => {
    using folder = folderOf({
      'a/things.yaml': 'apiVersion: example.com/v1\nkind: Thing\nmetadata: { name: t, namespace: team }\n',
      'b/crd.json': JSON.stringify(definition),
      'b/maps.yml': `${mapText('one')}---\n# nothing\n---\n${mapText('two', '\n  namespace: team')}`,
      'b/notes.txt': 'not a manifest',
      'c/namespace.yaml': 'apiVersion: v1\nkind: Namespace\nmetadata: { name: team }\n',
    })
    for (const env of [new VirtualWorld({ seed: 6 }), undefined]) {
      await using cluster = await startCluster(env ? { env } : {})
      const applied = await cluster.apply(folder.path)
      assert.deepEqual(
        applied.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`),
        [
          'Thing team/t',
          'CustomResourceDefinition /things.example.com',
          'ConfigMap default/one',
          'ConfigMap team/two',
          'Namespace /team',
        ],
      )
      assert.ok(applied.every(({ metadata }) => metadata.uid))
      const [again] = await cluster.apply(pathToFileURL(join(folder.path, 'b/maps.yml')))
      assert.equal(again?.metadata.resourceVersion, applied[2]?.metadata.resourceVersion, 'nothing changed')
      const list = { apiVersion: 'v1', kind: 'List', items: [{ ...definition }] }
      const more = await cluster.apply([`${mapText('three')}data: { x: "1" }\n`, list as never], {
        namespace: 'team',
      })
      assert.equal(more[0]?.metadata.namespace, 'team')
      assert.equal(more[0]?.metadata.managedFields?.[0]?.manager, 'test')
    }
  })

  it('builds a folder with a kustomization, and reads what is in it by that alone', async () => {
    using folder = folderOf({
      'config/default/kustomization.yaml':
        'namePrefix: dev-\nnamespace: team\nresources: [../base]\nconfigMapGenerator: [{name: made, literals: [x=1]}]\n',
      'config/base/kustomization.yaml': 'resources: [a.yaml, namespace.yaml]\n',
      'config/base/a.yaml': mapText('a'),
      'config/base/namespace.yaml': 'apiVersion: v1\nkind: Namespace\nmetadata: { name: team }\n',
      'config/base/unlisted.yaml': 'not: an object\n',
    })
    await using cluster = await startCluster({ env: new VirtualWorld({ seed: 6 }) })
    const applied = await cluster.apply(join(folder.path, 'config/default'))
    assert.deepEqual(
      applied.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`),
      ['Namespace /team', 'ConfigMap team/dev-a', 'ConfigMap team/dev-made-hmg6f82fh6'],
    )
  })

  it('applies a Pod to a namespace that is made with it', async () => {
    await using cluster = await startCluster({ env: new VirtualWorld() })
    await cluster.apply(
      'apiVersion: v1\nkind: Pod\nmetadata: { name: p, namespace: team }\nspec: { containers: [{ name: c, image: i }] }\n---\napiVersion: v1\nkind: Namespace\nmetadata: { name: team }\n',
    )
    await cluster
      .expect(Pod, { namespace: 'team', name: 'p' })
      .toHave({ spec: { serviceAccountName: 'default' } })
  })

  it('writes nothing when a manifest cannot be read, and says which and why', async () => {
    using folder = folderOf({
      'bad/a.yaml': mapText('a'),
      'bad/b.yaml': `${mapText('b')}---\nkind: ConfigMap\n`,
      'broken/x.yaml': 'a: [\n',
      'empty/readme.md': '',
      'kustomized/config/kustomization.yaml': 'resources: [a.yaml]\n',
      'kustomized/b.yaml': mapText('b'),
    })
    await using cluster = await startCluster({ env: new VirtualWorld() })
    const refusal = (path: string) => cluster.apply(join(folder.path, path)).catch(error => error.message)
    assert.match(
      await refusal('bad'),
      /b\.yaml, document 2: not a Kubernetes object: apiVersion and kind are needed$/,
    )
    assert.match(await refusal('broken'), /broken\/x\.yaml: /)
    assert.match(await refusal('empty'), /empty: no \.yaml, \.yml or \.json files$/)
    assert.match(await refusal('kustomized'), /kustomized\/config: accumulating resources: .*a\.yaml/)
    assert.match(
      await refusal('kustomized/config/kustomization.yaml'),
      /not a Kubernetes object|apply the folder that it is in/,
    )
    assert.match(await refusal('nothing'), /\/nothing: no such file or folder$/)
    await assert.rejects(cluster.apply([]), /there is no object to apply/)
    await assert.rejects(
      cluster.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'x-' } } as never),
      /ConfigMap: metadata\.name is needed/,
    )
    await cluster.expect(ConfigMap, { namespace: 'default', name: 'a' }).toBeMissing()
  })

  it('tries again what passes, a bounded number of times, and nothing else', async () => {
    await using cluster = await startCluster({ env: new VirtualWorld() })
    let failures = 3
    let calls = 0
    using _ = cluster.intercept(async (request, next) => {
      if (request.method !== 'PATCH') return await next(request)
      calls++
      if (failures-- <= 0) return await next(request)
      const body = new TextEncoder().encode(JSON.stringify(newServiceUnavailable('not yet').status))
      return { status: 503, headers: { 'content-type': 'application/json' }, body }
    })
    await cluster.apply(mapText('a'))
    assert.equal(calls, 4)
    calls = 0
    const invalid = await cluster.apply(mapText('A')).catch(error => error)
    assert.ok(isInvalid(invalid))
    assert.match(invalid.message, /^manifest: ConfigMap A: ConfigMap "A" is invalid/)
    assert.equal(calls, 1)
    calls = 0
    failures = 1_000
    await assert.rejects(cluster.apply(mapText('b')), /manifest: ConfigMap b: not yet/)
    assert.equal(calls, 10)
    failures = 0
    await assert.rejects(
      cluster.apply('apiVersion: example.com/v1\nkind: Nothing\nmetadata: { name: x }\n'),
      /no matches for kind "Nothing" .*; apply its CustomResourceDefinition first, or call cluster\.install/,
    )
  })

  it('leaves fields of other managers alone unless it is forced', async () => {
    await using cluster = await startCluster({ env: new VirtualWorld() })
    const text = (value: string) => `${mapText('a')}data: { x: "${value}" }\n`
    await cluster.apply(text('1'), { fieldManager: 'one' })
    await assert.rejects(cluster.apply(text('2')), isConflict)
    await cluster.apply(text('2'), { force: true })
    await cluster.expect(ConfigMap, { namespace: 'default', name: 'a' }).toHave({ data: { x: '2' } })
    await cluster.expect(Namespace, { name: 'default' }).toHave({ status: { phase: 'Active' } })
  })
})
