/**
 * Writes the roles and bindings that a real kube-apiserver 1.36 makes at its start into
 * packages/apiserver/src/gen/bootstrap-policy.ts, one rule or subject a line. Starts one to ask it.
 *
 *   ROLE [+label]         a role; what it carries besides the label that all have: aggregate-to-X
 *     VERBS GROUPS RESOURCES [NAMES]    `-` is the core group
 *     VERBS = PATHS
 *     < aggregate-to-X     gathers the rules of the roles that carry this label
 *
 *   BINDING [ROLE]         the role is named when its name is another
 *     User|Group NAME, or ServiceAccount NAMESPACE/NAME
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ensureComponent } from '../components/index.ts'
import { startReference } from '../reference/start-reference.ts'
import { type BootstrapObject, printPolicy } from './print-policy.ts'

const output = fileURLToPath(new URL('../../packages/apiserver/src/gen/bootstrap-policy.ts', import.meta.url))
const log = (line: string) => console.error(line)
const programs = {
  etcd: await ensureComponent('etcd-3.6', log),
  apiserver: await ensureComponent('kube-apiserver-1.36', log),
}
const folder = await mkdtemp(join(tmpdir(), 'coxswain-reference-'))
try {
  const { signal } = new AbortController()
  await using reference = await startReference({ ...programs, folder, port: 0, signal })
  const kubeconfig = JSON.parse(await readFile(reference.kubeconfig, 'utf8')) as {
    users: [{ user: { token: string } }]
  }
  const { token } = kubeconfig.users[0].user
  const list = (resource: string) =>
    listObjects(`${reference.url}/apis/rbac.authorization.k8s.io/v1/${resource}`, token)
  const policy = printPolicy({
    clusterRoles: await list('clusterroles'),
    clusterRoleBindings: await list('clusterrolebindings'),
    roles: await list('roles'),
    roleBindings: await list('rolebindings'),
  })
  await writeFile(output, policy)
} finally {
  await rm(folder, { recursive: true, force: true })
}

/** The server's certificate is its own work. */
function listObjects(url: string, token: string): Promise<BootstrapObject[]> {
  return new Promise((resolve, reject) => {
    const options = { headers: { authorization: `Bearer ${token}` }, rejectUnauthorized: false }
    const sent = request(url, options, async response => {
      try {
        let text = ''
        for await (const chunk of response.setEncoding('utf8')) text += chunk
        if (response.statusCode !== 200) throw new Error(`${url}: ${response.statusCode} ${text}`)
        resolve((JSON.parse(text) as { items: BootstrapObject[] }).items)
      } catch (error) {
        reject(error)
      }
    })
    sent.on('error', reject).end()
  })
}
