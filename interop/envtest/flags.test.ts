import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { kubeApiserverFlags } from '../../packages/cli/src/envtest/kube-apiserver-flags.ts'
import { componentPath } from '../../tools/components/index.ts'
import { runOrFail } from '../../tools/components/process.ts'

describe('the flags of the stand-in for kube-apiserver', () => {
  it('are those of the real one', async () => {
    const help = await runOrFail(componentPath('kube-apiserver-1.36'), ['--help'])
    const real = [...help.matchAll(/^ +(?:-\w, )?--([a-z0-9-]+)/gm)].map(([, name]) => name!)
    assert.ok(real.length > 100, help)
    const known = [...kubeApiserverFlags, 'help', 'version']
    assert.deepEqual(real.toSorted(), known.toSorted())
  })
})
