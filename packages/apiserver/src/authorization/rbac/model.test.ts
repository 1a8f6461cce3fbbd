/**
 * Random requests, escaped in random ways, against an independent model of RBAC, while roles and bindings change. TORTURE_RUNS
 * and TORTURE_SEED make it longer: a run is a hundred probes.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createRealEnv, createSeededRandom } from '@coxswain/kit'
import type { UserInfo } from '../../request/context.ts'
import type { Access, Decision } from '../authorizer.ts'
import { type RunningServer, startServer } from '../test-support/running-server.ts'
import { createRbacAuthorizer } from './rbac-authorizer.ts'
import { type ModelBinding, type ModelPolicy, modelAllows, readRequest } from './test-support/model.ts'
import { type PolicyChange, type Probe, randomChange, randomProbe } from './test-support/probes.ts'

const seed = Number(process.env.TORTURE_SEED ?? 1)
const probes = process.env.TORTURE_RUNS === undefined ? 8_000 : Number(process.env.TORTURE_RUNS) * 100
const probesPerChange = 50

const group = 'rbac.authorization.k8s.io'
const collections = {
  clusterRoles: ['clusterroles', 'ClusterRole'],
  roles: ['roles', 'Role'],
  clusterRoleBindings: ['clusterrolebindings', 'ClusterRoleBinding'],
  roleBindings: ['rolebindings', 'RoleBinding'],
} as const

async function applyChange(server: RunningServer, policy: ModelPolicy, change: PolicyChange): Promise<void> {
  const { kind, key, value } = change
  const [resource, objectKind] = collections[kind]
  const [namespace, name] = key.includes('/') ? (key.split('/') as [string, string]) : ['', key]
  const place = namespace === '' ? '' : `/namespaces/${namespace}`
  const url = `/apis/${group}/v1${place}/${resource}/${name}`
  if (value === undefined) {
    policy[kind].delete(key)
    await server.write('DELETE', url)
    return
  }
  const metadata = { name, ...(namespace !== '' && { namespace }) }
  const head = { apiVersion: `${group}/v1`, kind: objectKind, metadata }
  const body = Array.isArray(value)
    ? { ...head, rules: value }
    : {
        ...head,
        roleRef: { apiGroup: group, ...(value as ModelBinding).roleRef },
        subjects: (value as ModelBinding).subjects,
      }
  ;(policy[kind] as Map<string, unknown>).set(key, value)
  await server.write('PUT', url, body)
}

/** The bootstrap policy would allow what the model does not know: only objects of the probes count. */
async function clearPolicy(server: RunningServer): Promise<void> {
  for (const [resource] of Object.values(collections))
    for (const namespace of resource.startsWith('cluster') ? [''] : ['kube-system', 'kube-public'])
      await server.write('DELETE', `/apis/${group}/v1${namespace && `/namespaces/${namespace}`}/${resource}`)
}

interface Bench extends AsyncDisposable {
  readonly server: RunningServer
  readonly policy: ModelPolicy
  /** The authorizer's decision about a request, given by its path. */
  ask(probe: Probe): Promise<boolean>
}

type Rbac = (access: Access) => Decision

/** The request gets as far as the authorizer, and no further whatever it decides. */
async function openBench(plant: (rbac: Rbac) => Rbac): Promise<Bench> {
  let verdict: Decision['verdict'] | undefined
  let authorizer: Rbac | undefined
  const server = await startServer({
    env: createRealEnv(),
    authorizer:
      ({ readPolicy }) =>
      access => {
        authorizer ??= plant(createRbacAuthorizer(readPolicy) as Rbac)
        if (access.user.groups.includes('system:masters')) return { verdict: 'allow' }
        const decision = authorizer(access)
        verdict = decision.verdict
        return { verdict: 'deny' }
      },
  })
  for (const name of ['one', 'two']) await server.write('POST', '/api/v1/namespaces', { metadata: { name } })
  await clearPolicy(server)
  return {
    server,
    policy: {
      clusterRoles: new Map(),
      roles: new Map(),
      clusterRoleBindings: new Map(),
      roleBindings: new Map(),
    },
    async ask({ user, method, path, query }) {
      verdict = undefined
      const peer = { commonName: user.name, organizations: user.groups, notAfter: Number.MAX_SAFE_INTEGER }
      const { signal } = new AbortController()
      await server.server.handler({ method, path, query, headers: {}, peer, signal })
      assert.ok(verdict, `${method} ${path} never came to the authorizer`)
      return verdict === 'allow'
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

const knownUser = ({ user }: Probe): UserInfo => ({
  ...user,
  groups: [...user.groups, 'system:authenticated'],
})

/** How many of `count` probes the authorizer and the model decide differently; stops at the first. */
async function countDifferences(
  plant: (rbac: Rbac) => Rbac,
  { count, from = seed }: { readonly count: number; readonly from?: number },
): Promise<{ differences: string[]; allowed: number }> {
  const random = createSeededRandom(from)
  await using bench = await openBench(plant)
  for (let change = 0; change < 150; change++)
    await applyChange(bench.server, bench.policy, randomChange(random, bench.policy))
  const differences: string[] = []
  let allowed = 0
  for (let done = 0; done < count && differences.length === 0; done++) {
    if (done % probesPerChange === 0)
      await applyChange(bench.server, bench.policy, randomChange(random, bench.policy))
    const probe = randomProbe(random)
    const request = readRequest(probe.method, probe.path, probe.query)
    const expected = modelAllows(bench.policy, knownUser(probe), request)
    const actual = await bench.ask(probe)
    if (expected) allowed++
    if (expected !== actual)
      differences.push(
        `probe ${done} of seed ${from}: ${JSON.stringify({ probe, request, expected, actual })}`,
      )
  }
  return { differences, allowed }
}

describe('the RBAC authorizer', () => {
  it(`agrees with the model on ${probes} requests`, { timeout: 3_600_000 }, async () => {
    const { differences, allowed } = await countDifferences(rbac => rbac, { count: probes })
    assert.deepEqual(differences, [])
    // Probes that are all rejected, or all allowed, would prove nothing.
    assert.ok(allowed > probes / 10 && allowed < (probes * 9) / 10, `${allowed} of ${probes} were allowed`)
  })

  it('decides the same in a SubjectAccessReview', { timeout: 3_600_000 }, async () => {
    const random = createSeededRandom(seed + 1)
    await using server = await startServer({ env: createRealEnv() })
    await clearPolicy(server)
    for (const name of ['one', 'two'])
      await server.write('POST', '/api/v1/namespaces', { metadata: { name } })
    const policy: ModelPolicy = {
      clusterRoles: new Map(),
      roles: new Map(),
      clusterRoleBindings: new Map(),
      roleBindings: new Map(),
    }
    for (let change = 0; change < 150; change++)
      await applyChange(server, policy, randomChange(random, policy))
    for (let done = 0; done < probes; done++) {
      if (done % probesPerChange === 0) await applyChange(server, policy, randomChange(random, policy))
      const probe = randomProbe(random)
      const request = readRequest(probe.method, probe.path, probe.query)
      const { about, ...attributes } = request
      const spec = {
        user: probe.user.name,
        groups: probe.user.groups,
        ...(about === 'path' ? { nonResourceAttributes: attributes } : { resourceAttributes: attributes }),
      }
      const { status } = await server.write('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', {
        spec,
      })
      const { allowed } = status as { allowed: boolean }
      assert.equal(
        allowed,
        modelAllows(policy, probe.user, request),
        `probe ${done} of seed ${seed + 1}: ${JSON.stringify(spec)}`,
      )
    }
  })

  const orElse = (first: Decision, second: () => Decision): Decision =>
    first.verdict === 'allow' ? first : second()
  const planted: Readonly<Record<string, (rbac: Rbac) => Rbac>> = {
    'a name of which another is the beginning': rbac => access =>
      orElse(rbac(access), () => {
        const { info } = access
        return info.isResource
          ? rbac({ ...access, info: { ...info, name: info.name.slice(0, 1) } })
          : rbac(access)
      }),
    'a subresource that counts as its resource': rbac => access =>
      orElse(rbac(access), () => {
        const { info } = access
        return info.isResource ? rbac({ ...access, info: { ...info, subresource: '' } }) : rbac(access)
      }),
    'groups in another case': rbac => access =>
      orElse(rbac(access), () => {
        const groups = access.user.groups.flatMap(name => [
          name.toLowerCase(),
          `${name[0]!.toUpperCase()}${name.slice(1)}`,
        ])
        return rbac({ ...access, user: { ...access.user, groups } })
      }),
    'escapes that are taken off twice': rbac => access =>
      orElse(rbac(access), () => {
        const { info } = access
        const name = info.isResource ? info.name.replace('%62', 'b') : ''
        return info.isResource ? rbac({ ...access, info: { ...info, name } }) : rbac(access)
      }),
    'a path that only begins like another': rbac => access =>
      orElse(rbac(access), () => {
        const { info } = access
        return info.isResource
          ? rbac(access)
          : rbac({ ...access, info: { ...info, path: info.path.slice(0, 8) } })
      }),
    'a binding of another namespace': rbac => access =>
      orElse(rbac(access), () => {
        const { info } = access
        return info.isResource ? rbac({ ...access, info: { ...info, namespace: 'one' } }) : rbac(access)
      }),
  }
  for (const [bug, authorizer] of Object.entries(planted))
    it(`differs from the model with a bug: ${bug}`, async () => {
      const { differences } = await countDifferences(authorizer, { count: 20_000, from: 1 })
      assert.equal(differences.length, 1)
    })
})
