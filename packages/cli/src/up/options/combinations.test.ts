import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Command } from 'commander'
import { addUp } from '../command.ts'
import { checkCombinations, completeOptions } from './combinations.ts'
import { loadServedKinds } from './kinds.ts'
import type { UpOptions } from './up-options.ts'

/** The error of a command line of `up`, or the store that it uses. */
async function outcomeOf(...args: string[]): Promise<string> {
  const program = new Command().exitOverride()
  addUp(program)
  const up = program.commands[0]!
  up.parseOptions(args)
  const given = new Map(
    up.options
      .map(option => [option.attributeName(), option.long ?? ''] as const)
      .filter(([name]) => up.getOptionValueSource(name) === 'cli'),
  )
  const kinds = await loadServedKinds(up.opts<UpOptions>().kinds)
  const options = completeOptions(up.opts<UpOptions>(), given, kinds)
  try {
    checkCombinations(options, given, kinds)
  } catch (error) {
    return (error as Error).message
  }
  return options.storage
}

describe('options of up that need others', () => {
  it('are accepted with them, and alone where they imply them', async () => {
    assert.equal(await outcomeOf(), 'sqlite')
    assert.equal(await outcomeOf('--etcd-servers', 'http://a', '--etcd-prefix', '/x'), 'etcd')
    assert.equal(
      await outcomeOf('--audit-log-path', 'x', '--audit-policy-file', 'y', '--audit-log-maxage', '3'),
      'sqlite',
    )
    assert.equal(
      await outcomeOf('--controllers', 'none', '--service-cluster-ip-range', '10.0.0.0/16'),
      'sqlite',
    )
    assert.equal(await outcomeOf('--runtime', 'process', '--service-proxy', 'true', '--nodes', '2'), 'sqlite')
    assert.equal(await outcomeOf('--runtime', 'process', '--isolation', 'namespaces'), 'sqlite')
    assert.equal(await outcomeOf('--runtime', 'process', '--image', 'a=.', '--image', 'b=..'), 'sqlite')
  })

  it('have the values of kube-apiserver', async () => {
    assert.equal(await outcomeOf('--event-ttl', '2h30m'), 'sqlite')
    await assert.rejects(outcomeOf('--event-ttl', 'long'), /must be a duration such as/)
  })

  it('name kinds that exist', async () => {
    assert.equal(await outcomeOf('--kinds', 'generic,services,deployments.apps'), 'sqlite')
    await assert.rejects(outcomeOf('--kinds', 'deployments'), {
      message: '--kinds: unknown kind "deployments"; did you mean deployments.apps?',
    })
    await assert.rejects(outcomeOf('--kinds', 'generic,pizzas'), {
      message: '--kinds: unknown kind "pizzas"; use all, generic, or names such as deployments.apps',
    })
  })

  for (const [needed, ...args] of [
    ['--storage etcd', '--storage', 'sqlite', '--etcd-servers', 'http://a'],
    ['--storage etcd', '--etcd-cafile', 'x'],
    ['--etcd-certfile and --etcd-keyfile', '--etcd-servers', 'http://a', '--etcd-certfile', 'x'],
    ['--encryption-provider-config', '--encryption-provider-config-automatic-reload'],
    ['--audit-log-path or', '--audit-policy-file', 'x'],
    ['--audit-log-path', '--audit-log-maxsize', '3'],
    ['--audit-webhook-config-file', '--audit-webhook-batch-max-size', '3'],
    ['--authentication-token-webhook-config-file', '--authentication-token-webhook-version', 'v1'],
    ['--oidc-issuer-url', '--oidc-groups-claim', 'x'],
    ['--requestheader-client-ca-file', '--requestheader-group-headers', 'x'],
    ['--authorization-mode Webhook', '--authorization-webhook-version', 'v1'],
    ['--allocate-node-cidrs', '--cluster-cidr', '10.0.0.0/8'],
    ['--leader-elect true', '--leader-elect', 'false', '--leader-elect-retry-period', '3s'],
    ['--runtime simulated', '--missing-images', 'x', '--runtime', 'process'],
    ['--runtime process', '--service-proxy', 'true'],
    ['--runtime process', '--isolation', 'none'],
    ['--runtime process', '--image', 'greeter=.'],
    ['at least one of --nodes', '--isolation', 'none', '--runtime', 'process', '--nodes', '0'],
    ['--controllers none', '--controllers', 'none', '--nodes', '3'],
    ['--controllers none', '--controllers', 'none', '--scheduler-config', 'x'],
    ['pods and nodes', '--kinds', 'generic', '--nodes', '2'],
    ['pods and nodes', '--kinds', 'generic,pods', '--scheduler-config', 'x'],
    ['services, which --kinds', '--kinds', 'generic', '--service-cluster-ip-range', '10.0.0.0/16'],
    ['positive sum', '--max-requests-inflight', '0', '--max-mutating-requests-inflight', '0'],
  ] as const) {
    it(`are rejected without: ${args.join(' ')}`, async () => {
      const outcome = await outcomeOf(...args)
      assert.ok(outcome.includes(needed), outcome)
    })
  }
})
