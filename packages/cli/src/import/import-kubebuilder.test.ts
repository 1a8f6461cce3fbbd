import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'

const command = fileURLToPath(new URL('../../../coxswain/bin/coxswain.js', import.meta.url))

describe('coxswain import kubebuilder', () => {
  it('writes the twin once, and nothing when something is missing', () => {
    const folder = mkdtempSync(join(tmpdir(), 'coxswain-import-'))
    const run = () => {
      const args = [command, 'import', 'kubebuilder', '.', '--out', 'twin']
      const { status, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
      return `${status} ${stderr}`
    }
    const write = (path: string, text: string) => writeFileSync(join(folder, path), text)
    try {
      assert.equal(run(), '1 coxswain: PROJECT does not exist\n')
      mkdirSync(join(folder, 'config/crd/bases'), { recursive: true })
      write('PROJECT', 'version: "2"\ndomain: example.com\n')
      assert.equal(run(), '1 coxswain: .: PROJECT: version 2 is not supported; it must be 3\n')
      write(
        'PROJECT',
        'version: "3"\ndomain: example.com\nprojectName: ships\nresources:\n- {api: {crdVersion: v1}, controller: true, group: ship, kind: Sloop, version: v1}\n',
      )
      assert.match(
        run(),
        /Sloop\.ship\.example\.com has no definition in config\/crd\/bases; run: make manifests/,
      )
      assert.deepEqual(readdirSync(folder).sort(), ['PROJECT', 'config'])
      write(
        'config/crd/bases/sloops.yaml',
        'apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: sloops.ship.example.com}\nspec: {group: ship.example.com, scope: Namespaced, names: {kind: Sloop, plural: sloops}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {crew: {type: integer}}}}}}}]}\n',
      )
      assert.equal(run(), '0 ')
      assert.match(
        readFileSync(join(folder, 'twin/api/sloop.ts'), 'utf8'),
        /crew: s\.schema<number>\(\{ type: 'integer' \}\)\.optional\(\)/,
      )
      assert.match(run(), /^1 coxswain: twin\/PROJECT exists already; choose another folder with --out\n$/)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
