import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { kubectlVersions } from '../support/kubectl.ts'
import { startTarget, type Target } from '../support/target.ts'
import { createSession, deleted, manifests, type Session } from './session.ts'

const chart = `-f ${manifests}/chart.yaml`
const deeper = `-f ${manifests}/chart-deeper.yaml`
const fleet = `-f ${manifests}/fleet.yaml`

let target: Target

before(async () => {
  target = await startTarget()
})
after(() => target[Symbol.asyncDispose]())

// The versions side by side, each in a namespace of its own.
describe('changes', { concurrency: 2 }, () => {
  for (const version of kubectlVersions) {
    describe(`changes with kubectl ${version}`, { concurrency: 1 }, () => {
      let session: Session
      before(async () => {
        session = await createSession(target, version, `bay-${version.replace('.', '-')}`)
      })
      after(() => session[Symbol.dispose]())

      it('applies on the client side', async () => {
        await session.ok(`apply ${chart} --dry-run=client`, 'configmap/chart created (dry run)')
        await session.ok(`apply ${chart} --dry-run=server`, 'configmap/chart created (server dry run)')
        await session.ok(`apply ${chart}`, 'configmap/chart created')
        await session.ok(`apply ${chart}`, 'configmap/chart unchanged')
        await session.ok(`diff ${chart}`, '')
        const difference = await session.fails(`diff ${deeper}`)
        assert.match(difference.stdout, /^- {2}depth: "10"\n\+ {2}depth: "20"$/m)
        await session.ok(`apply ${deeper} --dry-run=server`, 'configmap/chart configured (server dry run)')
        await session.ok('get cm chart -o jsonpath={.data.depth}', '10')
        await session.ok(`apply ${deeper}`, 'configmap/chart configured')
        await session.ok('get cm chart -o jsonpath={.data.depth}', '20')
        await session.ok('apply view-last-applied cm chart', /depth: "20"/)
        await session.ok(`apply set-last-applied ${chart}`, 'configmap/chart configured')
      })

      it('applies on the server side', async () => {
        await session.ok(
          `apply --server-side ${fleet} --dry-run=server`,
          /^deployment.apps\/fleet serverside-applied/,
        )
        await session.ok(`apply --server-side ${fleet}`, 'deployment.apps/fleet serverside-applied')
        await session.ok(`apply --server-side ${fleet}`, 'deployment.apps/fleet serverside-applied')
        await session.ok('get deploy fleet -o jsonpath={.metadata.generation}', '1')
      })

      it('reports conflicts between managers unless forced', async () => {
        await session.ok('delete cm chart --ignore-not-found')
        await session.ok(`apply --server-side --field-manager=pilot ${chart}`, /serverside-applied/)
        await session.fails(
          `apply --server-side --field-manager=mate ${deeper}`,
          /Apply failed with 1 conflict: conflict with "pilot": \.data\.depth/,
        )
        await session.ok(
          `apply --server-side --field-manager=mate --force-conflicts ${deeper}`,
          /serverside-applied/,
        )
        await session.ok('get cm chart -o jsonpath={.data.depth}', '20')
      })

      it('applies a kustomization', async () => {
        await session.ok(
          `kustomize ${manifests}/kustomization`,
          /name: north-chart/,
          /name: north-made-[a-z0-9]{10}/,
        )
        await session.ok(
          `apply -k ${manifests}/kustomization`,
          /north-chart created/,
          /north-made-\w+ created/,
        )
        await session.ok(`apply -k ${manifests}/kustomization`, /north-chart unchanged/)
        await session.ok(`delete -k ${manifests}/kustomization`, deleted(version, 'configmap "north-chart"'))
      })

      it('patches in three ways', async () => {
        await session.ok('create configmap log --from-literal=a=1')
        await session.ok(`patch cm log -p '{"data":{"b":"2"}}'`, 'configmap/log patched')
        await session.ok(`patch cm log -p '{"data":{"b":"2"}}'`, 'configmap/log patched (no change)')
        await session.ok(`patch cm log --type=merge -p '{"data":{"a":null}}'`, 'configmap/log patched')
        await session.ok(
          `patch cm log --type=json -p '[{"op":"add","path":"/data/c","value":"3"}]'`,
          'configmap/log patched',
        )
        await session.ok('get cm log -o jsonpath={.data}', '{"b":"2","c":"3"}')
        await session.fails(`patch cm log --type=json -p '[{"op":"test","path":"/data/c","value":"4"}]'`)
        await session.fails(`patch cm nothing -p '{}'`, /NotFound/)
        await session.ok(`patch cm log --dry-run=server -p '{"data":{"d":"4"}}'`, /^configmap\/log patched/)
        await session.ok('get cm log -o jsonpath={.data}', '{"b":"2","c":"3"}')
      })

      it('merges lists by key in a strategic patch', async () => {
        const patch = '{"spec":{"template":{"spec":{"containers":[{"name":"boat","image":"busybox:1.37"}]}}}}'
        await session.ok(`patch deploy fleet -p '${patch}'`, 'deployment.apps/fleet patched')
        await session.ok(
          'get deploy fleet -o jsonpath={.spec.template.spec.containers[*].image}',
          'nginx:1.25 busybox:1.37',
        )
      })

      it('labels and annotates', async () => {
        await session.ok('create configmap crate')
        await session.ok('label cm crate tier=back', 'configmap/crate labeled')
        await session.fails(
          'label cm crate tier=front',
          /already has a value \(back\), and --overwrite is false/,
        )
        await session.ok('label cm crate tier=front --overwrite', 'configmap/crate labeled')
        await session.ok('label cm -l tier=front wet=yes', 'configmap/crate labeled')
        await session.ok('label cm crate --list', /tier=front/, /wet=yes/)
        await session.ok('label cm crate tier-', /configmap\/crate (un)?labeled/)
        await session.ok('get cm crate -o jsonpath={.metadata.labels}', '{"wet":"yes"}')
        await session.ok('annotate cm crate note=deep', 'configmap/crate annotated')
        await session.ok('get cm crate -o jsonpath={.metadata.annotations.note}', 'deep')
        await session.ok('annotate cm crate note-', 'configmap/crate annotated')
        await session.fails('annotate cm crate --resource-version=1 note=x', /the object has been modified/)
        await session.fails('label cm crate bad=-x-', /invalid label value/)
      })

      it('edits', async () => {
        await session.ok('create configmap draft --from-literal=text=old')
        await session.edit('s/old/new/', 'edit cm draft', 'configmap/draft edited')
        await session.ok('get cm draft -o jsonpath={.data.text}', 'new')
        await session.edit('s/absent/x/', 'edit cm draft', 'Edit cancelled, no changes made.')
      })

      it('replaces', async () => {
        await session.ok(`replace ${chart}`, 'configmap/chart replaced')
        const before = await session.ok('get cm chart -o jsonpath={.metadata.uid}')
        await session.ok(
          `replace --force ${chart}`,
          deleted(version, 'configmap "chart"'),
          /configmap\/chart replaced/,
        )
        assert.notEqual(await session.ok('get cm chart -o jsonpath={.metadata.uid}'), before)
        await session.fails(`replace -f ${manifests}/pair-port.yaml`, /NotFound/)
      })
    })
  }
})

describe('changes as only newer versions of kubectl make them', () => {
  let session: Session
  before(async () => {
    session = await createSession(target, '1.36', 'newer-bay')
  })
  after(() => session[Symbol.dispose]())

  it('prunes what is no longer in the manifests', async () => {
    await session.ok(`apply -f ${manifests}/pair.yaml`, 'configmap/port created\nconfigmap/starboard created')
    await session.ok(
      `apply -f ${manifests}/pair-port.yaml --prune -l set=pair --prune-allowlist=core/v1/ConfigMap`,
      /configmap\/port unchanged\nconfigmap\/starboard pruned/,
    )
  })

  it('changes subresources', async () => {
    await session.ok(`apply ${fleet}`)
    await session.ok(
      `patch deploy fleet --subresource=scale --type=merge -p '{"spec":{"replicas":4}}'`,
      'scale.autoscaling/fleet patched',
    )
    await session.ok(
      `patch deploy fleet --subresource=status --type=merge -p '{"spec":{"replicas":9},"status":{"replicas":3}}'`,
      'deployment.apps/fleet patched',
    )
    await session.ok('get deploy fleet -o jsonpath={.spec.replicas},{.status.replicas}', '4,3')
    await session.ok(`replace ${fleet} --subresource=status`, 'deployment.apps/fleet replaced')
  })

  it('compares on the server side', async () => {
    await session.ok(`apply --server-side ${chart}`, 'configmap/chart serverside-applied')
    await session.ok(`diff --server-side ${chart}`, '')
  })
})
