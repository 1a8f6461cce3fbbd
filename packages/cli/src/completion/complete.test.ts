import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startCluster } from '@coxswain/testing'
import { scratch, startIn } from '../test-support/commands.ts'

const bin = fileURLToPath(new URL('../../../coxswain/bin/', import.meta.url))

async function complete(folder: string, ...words: string[]): Promise<string[]> {
  await using command = startIn(folder, '__complete', ...words)
  assert.equal(await command.exited, 0)
  return command
    .output()
    .stdout.trimEnd()
    .split('\n')
    .map(line => line.split('\t')[0]!)
}

describe('completion', () => {
  it('proposes commands, flags, choices, and what PROJECT has', async () => {
    using folder = scratch()
    folder.file(
      'PROJECT',
      'version: "3"\nlayout: [ts.coxswain/v1]\ndomain: x.y\nprojectName: p\nresources:\n- { group: crew, version: v1, kind: Captain, path: api/captain.ts }\n',
    )
    const all = await complete(folder.path, '')
    for (const name of ['up', 'deploy', 'create', 'completion']) assert.ok(all.includes(name), name)
    assert.deepEqual(await complete(folder.path, 'dep'), ['deploy', ':4'])
    assert.deepEqual(await complete(folder.path, 'create', 'w'), ['webhook', ':4'])
    assert.deepEqual(await complete(folder.path, 'deploy', '--dry'), ['--dry-run', ':4'])
    assert.deepEqual(await complete(folder.path, 'deploy', '--dry-run', ''), [
      'none',
      'client',
      'server',
      ':4',
    ])
    assert.deepEqual(await complete(folder.path, 'deploy', '--dry-run=s'), ['--dry-run=server', ':4'])
    assert.deepEqual(await complete(folder.path, 'create', 'webhook', '--kind', ''), ['Captain', ':4'])
    assert.deepEqual(await complete(folder.path, 'completion', 'f'), ['fish', ':4'])
    assert.deepEqual(await complete(folder.path, 'run', ''), [':0'])
    assert.deepEqual(await complete(folder.path, 'apply', '-f', ''), [':0'])
  })

  it('proposes namespaces of the cluster, and nothing when there is none', async () => {
    await using cluster = await startCluster()
    using folder = scratch()
    const before = process.env.KUBECONFIG
    try {
      process.env.KUBECONFIG = await cluster.kubeconfig()
      const found = await complete(folder.path, 'deploy', '-n', 'kube-')
      assert.deepEqual(found, ['kube-node-lease', 'kube-public', 'kube-system', ':4'])
      process.env.KUBECONFIG = folder.file('none', '')
      assert.deepEqual(await complete(folder.path, 'deploy', '-n', ''), [':4'])
    } finally {
      if (before === undefined) delete process.env.KUBECONFIG
      else process.env.KUBECONFIG = before
    }
  })

  it('has a bash script that completes', async () => {
    using folder = scratch()
    const node = process.execPath
    folder.file('coxswain', `#!/bin/sh\nexec ${node} ${bin}coxswain.js "$@"\n`)
    const script = `
      chmod +x coxswain; PATH=$PWD:$PATH
      source <(coxswain completion bash)
      try() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _coxswain; echo "\${COMPREPLY[*]}"; }
      try coxswain undep
      try coxswain deploy --dry-run = s
      try coxswain deploy --dry-run cl`
    const { stdout, stderr } = spawnSync('bash', ['-c', script], { cwd: folder.path, encoding: 'utf8' })
    assert.equal(stdout, 'undeploy\nserver\nclient\n', stderr)
    const zsh = startIn(folder.path, 'completion', 'zsh')
    assert.equal(await zsh.exited, 0)
    assert.match(zsh.output().stdout, /^#compdef coxswain/)
    const fish = startIn(folder.path, 'completion', 'fish')
    assert.equal(await fish.exited, 0)
    assert.match(fish.output().stdout, /complete -c coxswain/)
  })

  it("answers kubectl's kubectl_complete-coxswain", () => {
    const { stdout } = spawnSync(process.execPath, [`${bin}kubectl-complete.js`, 'unin'], {
      encoding: 'utf8',
    })
    assert.match(stdout, /^uninstall\t.*\n:4\n$/)
  })
})
