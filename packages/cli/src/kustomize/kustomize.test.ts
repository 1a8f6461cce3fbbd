import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('../../../coxswain/bin/coxswain.js', import.meta.url))

describe('coxswain kustomize build', () => {
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-kustomize-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  for (const [path, text] of Object.entries({
    'app/kustomization.yaml': 'namePrefix: dev-\nresources: [map.yaml]\n',
    'app/map.yaml': 'kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\ndata: {b: yes}\n',
    'outside/kustomization.yaml': 'resources: [../app/map.yaml]\ncommonLabels: {a: b}\n',
    'remote/kustomization.yaml': 'resources: ["https://example.com/x.yaml"]\n',
    'helm/kustomization.yaml': 'helmCharts: [{name: x}]\n',
  })) {
    mkdirSync(join(folder, path, '..'), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const run = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, 'kustomize', 'build', ...args], {
      cwd: folder,
      encoding: 'utf8',
    })
    return { status, stdout, stderr }
  }
  const built = 'apiVersion: v1\ndata:\n  b: "yes"\nkind: ConfigMap\nmetadata:\n  name: dev-a\n'

  it('prints the objects', () => {
    assert.deepEqual(run('app'), { status: 0, stdout: built, stderr: '' })
  })

  it('writes them to a file, as a whole', () => {
    assert.equal(run('app', '-o', 'out.yaml').status, 0)
    assert.equal(readFileSync(join(folder, 'out.yaml'), 'utf8'), built)
    const failed = run('app', '--output', 'none/out.yaml')
    assert.deepEqual(
      [failed.status, failed.stderr],
      [1, 'coxswain: cannot write none/out.yaml: does not exist\n'],
    )
    assert.deepEqual(
      readdirSync(folder).filter(name => name.endsWith('.tmp')),
      [],
    )
  })

  it('reads files outside the folder only when it may, and prints warnings', () => {
    const refused = run('outside')
    assert.equal(refused.status, 1)
    assert.match(
      refused.stderr,
      /^coxswain: accumulating resources: .*security; file '.*map\.yaml' is not in or below/m,
    )
    const allowed = run('outside', '--load-restrictor', 'LoadRestrictionsNone')
    assert.equal(allowed.status, 0)
    assert.match(allowed.stderr, /^# Warning: 'commonLabels' is deprecated/)
  })

  it('says what is not supported, and what to do', () => {
    assert.match(
      run('remote').stderr,
      /^coxswain: "https:\/\/example\.com\/x\.yaml" is not supported: .*Download it/,
    )
    assert.match(run('helm').stderr, /"helmCharts" is not supported: .*helm template/)
    assert.match(run('https://github.com/a/b').stderr, /is not supported: repositories are not fetched/)
    assert.match(run('none').stderr, /must build at directory: '.*none': no such file or directory/)
    assert.equal(run('app', '--nothing').status, 2)
  })
})
