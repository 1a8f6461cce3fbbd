import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { kubectlVersions } from '../support/kubectl.ts'
import { startTarget, type Target } from '../support/target.ts'
import { createSession, type Session } from './session.ts'

let target: Target

before(async () => {
  target = await startTarget()
})
after(() => target[Symbol.asyncDispose]())

/** `auth reconcile` of newer versions wants the namespace in the file. */
function deckhandIn(namespace: string): object {
  const apiGroup = 'rbac.authorization.k8s.io'
  const apiVersion = `${apiGroup}/v1`
  const metadata = { name: 'deckhand', namespace }
  const rules = [{ apiGroups: [''], resources: ['pods', 'pods/log'], verbs: ['get', 'list'] }]
  const subjects = [{ kind: 'User', apiGroup, name: 'jane' }]
  const roleRef = { apiGroup, kind: 'Role', name: 'deckhand' }
  const items = [
    { apiVersion, kind: 'Role', metadata, rules },
    { apiVersion, kind: 'RoleBinding', metadata, roleRef, subjects },
  ]
  return { apiVersion: 'v1', kind: 'List', items }
}

for (const version of kubectlVersions) {
  describe(`kubectl ${version} and rights`, () => {
    let session: Session
    const own = version.replace('.', '-')
    before(async () => {
      session = await createSession(target, version, `rights-${own}`)
    })
    after(() => session[Symbol.dispose]())

    it('reconciles roles and bindings', async () => {
      const file = join(session.directory, 'deckhand.json')
      writeFileSync(file, JSON.stringify(deckhandIn(session.namespace)))
      await session.ok(`auth reconcile -f ${file}`, /role\S* "?deckhand"? reconciled|deckhand reconciled/)
      await session.ok('get role deckhand -o jsonpath={.rules[0].resources}', '["pods","pods/log"]')
      // What was added stays, what is missing comes back, unless a flag says otherwise.
      await session.ok(
        `patch rolebinding deckhand --type=json -p '[{"op":"add","path":"/subjects/-","value":{"kind":"User","apiGroup":"rbac.authorization.k8s.io","name":"joe"}}]'`,
      )
      await session.ok(`auth reconcile -f ${file}`)
      await session.ok('get rolebinding deckhand -o jsonpath={.subjects[*].name}', 'jane joe')
      await session.ok(`auth reconcile -f ${file} --remove-extra-subjects`)
      await session.ok('get rolebinding deckhand -o jsonpath={.subjects[*].name}', 'jane')
    })

    it('asks what another user may do', async () => {
      await session.ok('auth can-i list pods --as jane', 'yes')
      await session.ok('auth can-i get pods --subresource=log --as jane', 'yes')
      await session.ok('auth can-i get pods/a --as jane', 'yes')
      for (const refused of [
        'auth can-i delete pods --as jane',
        'auth can-i get pods --subresource=exec --as jane',
        'auth can-i list pods --as jane -n kube-system',
        'auth can-i list pods --as jane --all-namespaces',
        'auth can-i list pods --as joe',
        'auth can-i get /metrics --as jane',
      ]) {
        const { stdout } = await session.fails(refused)
        if (!/^no\b/.test(stdout)) throw new Error(`kubectl ${refused}: ${stdout}`)
      }
      await session.ok('auth can-i get /healthz --as jane --as-group system:authenticated', 'yes')
      await session.ok('auth can-i delete nodes --as jane --as-group system:masters', 'yes')
    })

    it('lists what a user may do', async () => {
      await session.ok(
        'auth can-i --list --as jane',
        /^pods +\[\] +\[\] +\[get list\]$/m,
        /^pods\/log +\[\] +\[\] +\[get list\]$/m,
        /^selfsubjectaccessreviews\.authorization\.k8s\.io +\[\] +\[\] +\[create\]$/m,
        /^ +\[\/healthz\] +\[\] +\[get\]$/m,
      )
    })

    it('is refused what it may not do, in words that name it', async () => {
      await session.ok('get pods --as jane')
      await session.fails(
        'get secrets --as jane',
        new RegExp(
          `Error from server \\(Forbidden\\): secrets is forbidden: User "jane" cannot list resource "secrets" in API group "" in the namespace "rights-${own}"`,
        ),
      )
      await session.ok(
        `create role writer-${own} --verb=get,create,update,patch --resource=roles,rolebindings`,
      )
      await session.ok(`create rolebinding writer-${own} --role=writer-${own} --user=jane`)
      await session.fails(
        `create role more-${own} --verb=get --resource=secrets --as jane`,
        /user "jane" \(groups=\["system:authenticated"\]\) is attempting to grant RBAC permissions not currently held:\n\{APIGroups:\[""\], Resources:\["secrets"\], Verbs:\["get"\]\}/,
      )
      await session.ok(`create role less-${own} --verb=get --resource=pods --as jane`)
    })

    it('binds roles that come with the server', async () => {
      await session.ok('get clusterrole cluster-admin admin edit view system:node')
      await session.ok('get role,rolebinding -n kube-system', /extension-apiserver-authentication-reader/)
      await session.ok(`create clusterrolebinding admin-${own} --clusterrole=cluster-admin --user=ann-${own}`)
      await session.ok(`auth can-i '*' '*' --all-namespaces --as ann-${own}`, 'yes')
      await session.ok(`delete clusterrolebinding admin-${own}`)
      await session.fails(`auth can-i '*' '*' --all-namespaces --as ann-${own}`)
    })
  })
}
