import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { kubectlVersions } from '../support/kubectl.ts'
import { startTarget, type Target } from '../support/target.ts'
import { createSession, deleted, manifests, type Session } from './session.ts'

const argo = `-f ${manifests}/argo.yaml`

for (const version of kubectlVersions) {
  describe(`custom resources with kubectl ${version}`, () => {
    const namespace = `sea-${version.replace('.', '-')}`
    let target: Target
    let session: Session
    before(async () => {
      target = await startTarget()
      session = await createSession(target, version, namespace)
    })
    after(async () => {
      session[Symbol.dispose]()
      await target[Symbol.asyncDispose]()
    })

    it('are served as soon as their definition is established', async () => {
      await session.ok(`apply -f ${manifests}/ships-crd.yaml`, /ships\.sea\.example\.com created/)
      await session.ok(
        'wait --for=condition=Established crd/ships.sea.example.com --timeout=120s',
        /condition met/,
      )
      await session.ok('get crd', /^ships\.sea\.example\.com +20/m)
      await session.ok('describe crd ships.sea.example.com', /Type: +Established/)
      await session.ok(`apply ${argo}`, 'ship.sea.example.com/argo created')
      await session.ok(`apply ${argo}`, 'ship.sea.example.com/argo unchanged')
      await session.ok(
        'api-resources --api-group=sea.example.com',
        /^ships +sh +sea\.example\.com\/v1 +true +Ship$/m,
      )
    })

    it('are listed with their own columns, short names and categories', async () => {
      await session.ok('get ships', /^NAME +MASTS\nargo +2\n$/)
      await session.ok('get sh argo -o jsonpath={.spec.flag}', 'plain')
      await session.ok('get all -o name', 'ship.sea.example.com/argo')
      await session.ok('describe ship argo', /Flag: +plain\n +Masts: +2/)
    })

    it('are explained by their schema', async () => {
      await session.ok('explain ship', /KIND: +Ship/, /A vessel with masts\./)
      await session.ok('explain ship.spec.masts', /masts <integer>/, /How many masts it carries\./)
      await session.ok('explain ship --recursive', /flag\t<string>/)
    })

    it('are validated by their schema', async () => {
      await session.fails(
        `apply -f ${manifests}/argo-without-masts.yaml`,
        /The Ship "argo" is invalid: spec\.masts: Invalid value: 0: spec\.masts in body should be greater than or equal to 1/,
      )
      await session.fails(`apply -f ${manifests}/argo-with-oars.yaml`, /unknown field "?(spec\.)?oars"/)
    })

    it('are scaled, patched, labelled and edited', async () => {
      await session.ok('scale ship argo --replicas=4', 'ship.sea.example.com/argo scaled')
      await session.ok('get ship argo -o custom-columns=N:.metadata.name,M:.spec.masts', /^N +M\nargo +4\n$/)
      await session.ok(
        `patch ship argo --type=merge -p '{"spec":{"flag":"black"}}'`,
        'ship.sea.example.com/argo patched',
      )
      await session.fails(
        `patch ship argo -p '{"spec":{"flag":"red"}}'`,
        /accepted media types include: application\/json-patch\+json, application\/merge-patch\+json/,
      )
      await session.ok('label ship argo crew=heroes', 'ship.sea.example.com/argo labeled')
      await session.ok('get ship -l crew=heroes -o name', 'ship.sea.example.com/argo')
      await session.edit('s/black/white/', 'edit ship argo', 'ship.sea.example.com/argo edited')
      await session.ok('get ship argo -o jsonpath={.spec.flag}', 'white')
    })

    it('are applied on the server side', async () => {
      await session.fails(`apply --server-side --field-manager=mate ${argo}`, /conflict.*\.spec\.masts/)
      await session.ok(
        `apply --server-side --field-manager=mate --force-conflicts ${argo}`,
        'ship.sea.example.com/argo serverside-applied',
      )
      await session.ok('get ship argo -o jsonpath={.spec.masts}', '2')
    })

    it('have subresources', async () => {
      if (version === '1.20') {
        const scale = JSON.parse(
          await session.ok(`get --raw /apis/sea.example.com/v1/namespaces/${namespace}/ships/argo/scale`),
        )
        assert.equal(scale.spec.replicas, 2)
        return
      }
      await session.ok(
        `patch ship argo --subresource=status --type=merge -p '{"status":{"masts":3}}'`,
        /patched/,
      )
      await session.ok('get ship argo --subresource=scale', /^argo +2 +3 /m)
    })

    it('are watched, and gone with their definition', async () => {
      await using watch = session.kubectl.follow('get', 'ships', '-w')
      await watch.until(/^argo +2/)
      await session.ok('scale ship argo --replicas=5')
      await watch.until(/^argo +5/)
      await session.ok('delete ship --all', deleted(version, 'ship.sea.example.com "argo"'))
      await session.ok('delete crd ships.sea.example.com', /"ships\.sea\.example\.com" deleted/)
      await session.fails('get --raw /apis/sea.example.com/v1/ships', /NotFound/)
    })
  })
}
