import assert from 'node:assert/strict'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { ConfigMap } from '@coxswain/api/core/v1'
import { startCluster } from '@coxswain/testing'
import { type Scratch, scratch, startIn } from '../test-support/commands.ts'

async function coxswain(folder: string, ...args: string[]) {
  await using command = startIn(folder, ...args)
  const code = await command.exited
  return { code, ...command.output() }
}

/** A project with config/crd and config/default. */
function project(): Scratch {
  const folder = scratch()
  for (const name of ['config', 'config/crd', 'config/default']) mkdirSync(join(folder.path, name))
  folder.file('package.json', '{ "name": "web" }')
  folder.file('config/crd/kustomization.yaml', 'resources: [crd.yaml]\n')
  folder.file(
    'config/crd/crd.yaml',
    `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: things.example.com }
spec:
  group: example.com
  scope: Namespaced
  names: { kind: Thing, plural: things }
  versions:
    - { name: v1, served: true, storage: true, schema: { openAPIV3Schema: { type: object } } }
`,
  )
  folder.file(
    'config/default/kustomization.yaml',
    'namespace: web-system\nnamePrefix: web-\nresources: [../crd, all.yaml]\n',
  )
  folder.file(
    'config/default/all.yaml',
    `apiVersion: v1
kind: Namespace
metadata: { name: system }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: manager, namespace: system }
spec:
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: manager, image: controller }] }
`,
  )
  return folder
}

describe('coxswain deploy', () => {
  it('deploys the kustomization of everything, and undeploys it', async () => {
    await using cluster = await startCluster({ nodes: 1 })
    using folder = project()
    const at = ['--kubeconfig', await cluster.kubeconfig()]
    const planned = await coxswain(folder.path, 'deploy', '--dry-run=client')
    assert.match(planned.stdout, /deployment.apps\/web-manager serverside-applied \(dry run\)\n/)
    const deployed = await coxswain(
      folder.path,
      'deploy',
      ...at,
      '--image',
      'example.com/web:2',
      '--timeout',
      '60s',
    )
    assert.equal(deployed.code, 0, deployed.stderr)
    assert.match(deployed.stdout, /^namespace\/web-system serverside-applied\n/)
    assert.match(deployed.stdout, /things.example.com condition met\n/)
    assert.match(deployed.stdout, /deployment "web-manager" successfully rolled out\n$/)
    const { items } = await cluster.client.list(ConfigMap, { namespace: 'web-system' })
    assert.ok(items.some(({ metadata }) => metadata.name === 'web-applyset'))
    const undeployed = await coxswain(folder.path, 'undeploy', ...at)
    assert.equal(undeployed.code, 0, undeployed.stderr)
    assert.match(undeployed.stdout, /namespace\/web-system deleted\n$/)
    assert.equal((await coxswain(folder.path, 'undeploy', ...at)).stdout, 'No resources found\n')
  })

  it('installs the definitions alone, and asks before it deletes objects', async () => {
    await using cluster = await startCluster()
    using folder = project()
    const at = ['--kubeconfig', await cluster.kubeconfig()]
    assert.equal((await coxswain(folder.path, 'install', ...at)).code, 0)
    const thing = folder.file(
      'thing.yaml',
      'apiVersion: example.com/v1\nkind: Thing\nmetadata: { name: a }\n',
    )
    const applied = await coxswain(folder.path, 'apply', '-f', thing, ...at)
    assert.equal(applied.stdout, 'thing.example.com/a serverside-applied\n')
    const asked = await coxswain(folder.path, 'uninstall', ...at)
    assert.equal(asked.code, 2)
    assert.equal(asked.stderr, 'coxswain: 1 things.example.com would be deleted; pass --yes to delete them\n')
    assert.equal((await coxswain(folder.path, 'uninstall', '--yes', ...at)).code, 0)
  })

  it('reports what a cluster refuses in one line', async () => {
    await using cluster = await startCluster()
    using folder = project()
    using _ = cluster.intercept(async (request, next) => {
      if (request.method !== 'PATCH') return await next(request)
      const body = {
        kind: 'Status',
        apiVersion: 'v1',
        status: 'Failure',
        code: 403,
        reason: 'Forbidden',
        message: 'you may not',
      }
      return {
        status: 403,
        headers: { 'content-type': 'application/json' },
        body: new TextEncoder().encode(JSON.stringify(body)),
      }
    })
    const { code, stderr } = await coxswain(folder.path, 'deploy', '--kubeconfig', await cluster.kubeconfig())
    assert.equal(code, 1)
    assert.equal(stderr, 'coxswain: namespace/web-system: you may not\n')
  })

  it('writes the installer, or nothing', async () => {
    using folder = project()
    const { code, stdout, stderr } = await coxswain(
      folder.path,
      'build-installer',
      '--image',
      'example.com/web:2',
    )
    assert.equal(code, 0, stderr)
    assert.equal(stdout, 'dist/install.yaml written: 3 objects\n')
    assert.match(readFileSync(join(folder.path, 'dist/install.yaml'), 'utf8'), /image: example.com\/web:2/)
    const refused = await coxswain(folder.path, 'build-installer', '-o', 'package.json/x.yaml')
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /^coxswain: .*cannot be written/)
  })

  it('answers bad usage and bad files with one line', async () => {
    using folder = project()
    const bad: readonly [readonly string[], number, RegExp][] = [
      [['apply'], 2, /must specify one of -f and -k/],
      [['apply', '-f', 'none.yaml'], 1, /-f none.yaml: does not exist/],
      [['apply', '-f', 'https://example.com/x.yaml'], 2, /URLs are not supported/],
      [['apply', '-f', 'package.json'], 1, /package.json: is not a Kubernetes object/],
      [['apply', '-k', '.'], 1, /has no kustomization.yaml/],
      [['deploy', '--timeout', 'x'], 2, /must be a duration/],
      [['deploy', '--kubeconfig', 'none'], 1, /--kubeconfig none: does not exist/],
    ]
    for (const [args, exitCode, message] of bad) {
      const { code, stderr } = await coxswain(folder.path, ...args)
      assert.equal(code, exitCode, stderr)
      assert.match(stderr.split('\n')[0]!, message)
    }
  })
})
