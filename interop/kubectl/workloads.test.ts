import { after, before, describe, it } from 'node:test'
import { kubectlVersions } from '../support/kubectl.ts'
import { startTarget, type Target } from '../support/target.ts'
import { createSession, manifests, type Session } from './session.ts'

let target: Target

before(async () => {
  target = await startTarget()
})
after(() => target[Symbol.asyncDispose]())

for (const version of kubectlVersions) {
  describe(`workloads, nodes and certificates with kubectl ${version}`, () => {
    const suffix = version.replace('.', '-')
    const template = 'jsonpath={.spec.template.spec'
    let session: Session
    before(async () => {
      session = await createSession(target, version, `fleet-${suffix}`)
      await session.ok(`apply -f ${manifests}/fleet.yaml`)
      await session.ok('create configmap settings --from-literal=color=blue')
    })
    after(() => session[Symbol.dispose]())

    it('scales', async () => {
      await session.ok('scale deploy fleet --replicas=3', 'deployment.apps/fleet scaled')
      await session.fails(
        'scale deploy fleet --replicas=5 --current-replicas=2',
        /Expected replicas to be 2, was 3/,
      )
      await session.ok('scale deploy/fleet --replicas=2 --current-replicas=3', 'deployment.apps/fleet scaled')
      await session.ok('get deploy fleet -o jsonpath={.spec.replicas},{.metadata.generation}', '2,3')
      await session.ok(
        'autoscale deploy fleet --min=1 --max=3',
        /horizontalpodautoscaler\.autoscaling\/fleet autoscaled/,
      )
      await session.ok('get hpa fleet', /Deployment\/fleet .* 1 +3 +0/)
      await session.ok('describe hpa fleet', /Reference: +Deployment\/fleet/, /Max replicas: +3/)
    })

    it('sets parts of the pod template', async () => {
      await session.ok('set image deploy/fleet ship=nginx:1.26', 'deployment.apps/fleet image updated')
      await session.ok(`get deploy fleet -o ${template}.containers[0].image}`, 'nginx:1.26')
      await session.fails('set image deploy/fleet sub=nginx:1.26', /unable to find container named "sub"/)
      await session.ok('set env deploy/fleet -c ship SAIL=red', 'deployment.apps/fleet env updated')
      await session.ok('set env deploy/fleet --list', /container ship\nSAIL=red/)
      await session.ok('set env deploy/fleet SAIL-', 'deployment.apps/fleet env updated')
      await session.ok(
        'set env deploy/fleet --from=configmap/settings',
        /deployment\.apps\/fleet env updated/,
      )
      await session.ok('set env deploy/fleet --list --resolve', /COLOR=blue/)
      await session.ok(
        'set resources deploy/fleet -c ship --limits=cpu=200m,memory=512Mi --requests=cpu=100m',
        'deployment.apps/fleet resource requirements updated',
      )
      await session.ok(`get deploy fleet -o ${template}.containers[0].resources.limits.memory}`, '512Mi')
      await session.ok(
        'set serviceaccount deploy/fleet sailor',
        'deployment.apps/fleet serviceaccount updated',
      )
      await session.ok(`get deploy fleet -o ${template}.serviceAccountName}`, 'sailor')
    })

    it('sets selectors and subjects', async () => {
      await session.ok('create service clusterip inner --tcp=80')
      await session.ok('set selector svc inner app=fleet', 'service/inner selector updated')
      await session.ok('get svc inner -o jsonpath={.spec.selector}', '{"app":"fleet"}')
      await session.ok('create role reader --verb=get --resource=pods')
      await session.ok('create rolebinding readers --role=reader --user=jane')
      await session.ok('set subject rolebinding readers --user=bob', /readers subjects updated/)
      await session.ok('get rolebinding readers -o jsonpath={.subjects[*].name}', 'jane bob')
    })

    it('edits a template', async () => {
      await session.edit('s/nginx:1.26/nginx:1.27/', 'edit deploy fleet', 'deployment.apps/fleet edited')
      await session.ok(`get deploy fleet -o ${template}.containers[0].image}`, 'nginx:1.27')
    })

    it('drives a rollout as far as that needs no controller', async () => {
      await session.ok(
        'rollout status deploy/fleet --watch=false',
        /Waiting for deployment spec update to be observed/,
      )
      await session.ok('rollout pause deploy/fleet', 'deployment.apps/fleet paused')
      await session.fails('rollout pause deploy/fleet', /is already paused/)
      await session.fails('rollout restart deploy/fleet', /can't restart paused deployment/)
      await session.ok('rollout resume deploy/fleet', 'deployment.apps/fleet resumed')
      await session.ok('rollout restart deploy/fleet', 'deployment.apps/fleet restarted')
      await session.ok('get deploy fleet -o yaml', /kubectl\.kubernetes\.io\/restartedAt/)
      await session.ok('rollout history deploy/fleet', /No rollout history found/)
      await session.fails('rollout undo deploy/fleet', /no rollout history found/)
    })

    it('taints, cordons and drains nodes', async () => {
      await session.ok(`create -f ${manifests}/deck.yaml`, 'node/deck created')
      await session.ok('taint node deck wet=yes:NoSchedule', 'node/deck tainted')
      await session.fails('taint node deck wet=yes:NoSchedule', /already has.* taint/)
      await session.ok('taint node deck wet=no:NoSchedule --overwrite', 'node/deck modified')
      await session.ok('describe node deck', /Taints: +.*wet=no:NoSchedule/s, /Unschedulable: +false/)
      await session.ok('taint node deck wet:NoSchedule-', 'node/deck untainted')
      await session.ok('cordon deck', 'node/deck cordoned')
      await session.ok('cordon deck', 'node/deck already cordoned')
      await session.ok('get nodes', /^deck +Unknown,SchedulingDisabled +<none>/m)
      await session.ok('uncordon deck', 'node/deck uncordoned')
      await session.ok('drain deck', /node\/deck (drained|evicted)/)
      await session.ok('delete node deck', 'node "deck" deleted')
    })

    it('approves and denies certificate requests', async () => {
      await session.ok(`create -f ${manifests}/jane-csr.yaml`, /jane created/)
      await session.ok('get csr jane', /kube-apiserver-client +kubernetes-admin .*Pending/)
      await session.ok(
        'certificate approve jane',
        'certificatesigningrequest.certificates.k8s.io/jane approved',
      )
      await session.ok('get csr jane', /Approved/)
      await session.ok('describe csr jane', /Status: +Approved/, /Common Name: +jane/)
      await session.ok(`create -f ${manifests}/bob-csr.yaml`, /bob created/)
      await session.ok('certificate deny bob', 'certificatesigningrequest.certificates.k8s.io/bob denied')
      await session.ok('get csr bob', /Denied/)
      await session.ok('delete csr jane bob', /"jane" deleted\n.*"bob" deleted/)
    })
  })
}
