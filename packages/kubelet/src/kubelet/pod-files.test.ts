import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Pod } from '@coxswain/api/core/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import { hostnameOf, makeHosts, makePodFiles, makeResolvConf } from './pod-files.ts'

const dns = { address: '127.96.0.10', domain: 'cluster.local' }
const machine =
  '# generated\nsearch old.example\nnameserver 192.0.2.53\nsearch corp.example\noptions timeout:1\n'
const podOf = (spec: object, name = 'web-0') =>
  ({
    metadata: { name, namespace: 'shop' },
    spec: { containers: [], ...spec },
    status: { podIPs: [{ ip: '192.0.2.7' }] },
  }) as unknown as DeepReadonly<Pod>

describe('the files that a kubelet writes for a Pod', () => {
  it('name the Pod and its aliases', () => {
    const hostAliases = [{ ip: '192.0.2.1', hostnames: ['a', 'b'] }]
    assert.equal(
      makeHosts(podOf({ subdomain: 'web', hostAliases }), 'unused'),
      [
        '# Kubernetes-managed hosts file.',
        '127.0.0.1\tlocalhost',
        '::1\tlocalhost ip6-localhost ip6-loopback',
        'fe00::0\tip6-localnet',
        'fe00::0\tip6-mcastprefix',
        'fe00::1\tip6-allnodes',
        'fe00::2\tip6-allrouters',
        '192.0.2.7\tweb-0.web.shop.svc.cluster.local\tweb-0',
        '',
        '# Entries added by HostAliases.',
        '192.0.2.1\ta\tb',
        '',
      ].join('\n'),
    )
    assert.match(makeHosts(podOf({}), ''), /\n192\.0\.2\.7\tweb-0\n$/)
    assert.equal(
      makeHosts(podOf({ hostNetwork: true, hostAliases }), '127.0.0.1 here\n'),
      '# Kubernetes-managed hosts file (host network).\n127.0.0.1 here\n\n# Entries added by HostAliases.\n192.0.2.1\ta\tb\n',
    )
  })

  it('search the namespace, the services and the cluster first', () => {
    assert.equal(
      makeResolvConf(podOf({}), machine, dns),
      'search shop.svc.cluster.local svc.cluster.local cluster.local corp.example\nnameserver 127.96.0.10\nnameserver 192.0.2.53\noptions ndots:5\n',
    )
    const own = 'search corp.example\nnameserver 192.0.2.53\noptions timeout:1\n'
    assert.equal(makeResolvConf(podOf({ dnsPolicy: 'Default' }), machine, dns), own)
    assert.equal(makeResolvConf(podOf({ hostNetwork: true }), machine, dns), own)
    assert.equal(makeResolvConf(podOf({}), machine, undefined), own, 'a cluster without DNS')
    const policy = { hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' }
    assert.match(makeResolvConf(podOf(policy), machine, dns), /^nameserver 127\.96\.0\.10$/m)
  })

  it('have what dnsConfig says, and nothing else with the policy None', () => {
    const dnsConfig = {
      nameservers: ['192.0.2.1', '192.0.2.2'],
      searches: ['my.example', 'cluster.local'],
      options: [{ name: 'ndots', value: '2' }, { name: 'edns0' }],
    }
    assert.equal(
      makeResolvConf(podOf({ dnsConfig }), 'nameserver 192.0.2.53\n', dns),
      'search shop.svc.cluster.local svc.cluster.local cluster.local my.example\nnameserver 127.96.0.10\nnameserver 192.0.2.53\nnameserver 192.0.2.1\noptions ndots:2 edns0\n',
    )
    assert.equal(
      makeResolvConf(podOf({ dnsPolicy: 'None', dnsConfig }), machine, dns),
      'search my.example cluster.local\nnameserver 192.0.2.1\nnameserver 192.0.2.2\noptions ndots:2 edns0\n',
    )
  })

  it('have the hostname of the Pod, with at most 63 characters', () => {
    assert.equal(hostnameOf(podOf({})), 'web-0')
    assert.equal(hostnameOf(podOf({ hostname: 'mine', subdomain: 'web' })), 'mine')
    const long = { hostname: 'mine', subdomain: 'web', setHostnameAsFQDN: true }
    assert.equal(hostnameOf(podOf(long)), 'mine.web.shop.svc.cluster.local')
    assert.equal(hostnameOf(podOf({}, `${'a'.repeat(62)}-b`)), 'a'.repeat(62))
    assert.equal(hostnameOf(podOf({ hostNetwork: true })), undefined)
    const paths = (spec: object) => [...makePodFiles(podOf(spec), { hosts: '', resolvConf: '' }, dns).keys()]
    assert.deepEqual(paths({}), ['/etc/hosts', '/etc/resolv.conf', '/etc/hostname'])
    assert.deepEqual(paths({ hostNetwork: true }), ['/etc/hosts', '/etc/resolv.conf'])
  })
})
