import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { createRealEnv, VirtualWorld } from '@coxswain/kit'
import { readCertificate, type ServerTls } from '@coxswain/wire/node'
import { Command } from 'commander'
import { addUp } from '../command.ts'
import type { ServingFlags } from '../options/serving-options.ts'
import { ensurePki } from './pki.ts'
import { resolveAddresses } from './serving-addresses.ts'
import { loadServingCertificates } from './serving-certificates.ts'

function scratch(): { path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), 'coxswain-serving-'))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}

function parse(...args: string[]): ServingFlags {
  const program = new Command().exitOverride()
  addUp(program)
  const up = program.commands[0]!
  up.configureOutput({ writeErr: () => {} }).parseOptions(args)
  return up.opts<ServingFlags>()
}

const env = createRealEnv()
const serviceRange = '10.96.0.0/12'

describe('addresses of the server', () => {
  it('are loopback ones unless the flags say otherwise', () => {
    const { bind, local, reachable, isPublic, advertised } = resolveAddresses(parse())
    assert.deepEqual([bind, local, reachable, isPublic], ['127.0.0.1', '127.0.0.1', '127.0.0.1', false])
    assert.doesNotMatch(advertised, /^127\./)
  })

  it('are all the same when one is given', () => {
    const { bind, local, reachable, isPublic, advertised, hosts } = resolveAddresses(
      parse('--bind-address', 'FD00:0::0007'),
    )
    assert.deepEqual([bind, local, reachable, advertised], ['fd00::7', 'fd00::7', 'fd00::7', 'fd00::7'])
    assert.ok(isPublic && hosts.includes('fd00::7') && hosts.includes(hostname().toLowerCase()))
  })

  it('are reached locally by the loopback address when the server listens on all of them', () => {
    const all = resolveAddresses(parse('--bind-address=0.0.0.0', '--advertise-address=192.0.2.9'))
    assert.deepEqual([all.local, all.reachable, all.isPublic], ['127.0.0.1', '192.0.2.9', true])
    assert.equal(resolveAddresses(parse('--bind-address=::')).local, '::1')
  })

  it('are advertised as given, also behind a loopback address', () => {
    const { advertised, reachable } = resolveAddresses(parse('--advertise-address', '192.0.2.9'))
    assert.deepEqual([advertised, reachable], ['192.0.2.9', '192.0.2.9'])
  })

  for (const args of [
    ['--bind-address', 'localhost'],
    ['--advertise-address', '127.0.0.1'],
    ['--advertise-address', '::1'],
    ['--advertise-address', '0.0.0.0'],
    ['--tls-sni-cert-key', 'cert'],
    ['--tls-sni-cert-key', 'cert,key,other'],
    ['--tls-sni-cert-key', 'cert,key:'],
    ['--tls-sni-cert-key', 'cert,key:a:b'],
    ['--secure-port', '70000'],
  ])
    it(`cannot be ${args.join(' ')}`, () => {
      assert.throws(() => parse(...args))
    })

  it('may have certificates by name, with the names or without', () => {
    assert.deepEqual(
      parse('--tls-sni-cert-key', 'a.crt,a.key', '--tls-sni-cert-key', 'b.crt,b.key:*.b.test,b.test')
        .tlsSniCertKey,
      [
        { certFile: 'a.crt', keyFile: 'a.key', names: [] },
        { certFile: 'b.crt', keyFile: 'b.key', names: ['*.b.test', 'b.test'] },
      ],
    )
  })
})

describe('generated certificates', () => {
  it('have every name, are kept while they have it, and are made again when one is missing', () => {
    using directory = scratch()
    const make = (...hosts: string[]) => ensurePki(directory.path, env, { hosts, serviceRange })
    const first = make('192.0.2.9', 'box.test')
    const { hosts } = readCertificate(first.server.certificate)
    for (const host of ['127.0.0.1', 'kubernetes.default.svc', '10.96.0.1', '192.0.2.9', 'box.test'])
      assert.ok(hosts.includes(host), host)
    assert.deepEqual(make('192.0.2.9'), first)
    const second = make('192.0.2.10')
    assert.ok(readCertificate(second.server.certificate).hosts.includes('192.0.2.10'))
    assert.notEqual(second.server.key, first.server.key)
    assert.deepEqual([second.ca, second.admin], [first.ca, first.admin])
  })

  it('are made again when another CA is put in place', () => {
    using directory = scratch()
    using other = scratch()
    const names = { hosts: [], serviceRange }
    const before = ensurePki(directory.path, env, names)
    const { ca } = ensurePki(other.path, env, names)
    writeFileSync(join(directory.path, 'ca.crt'), ca.certificate)
    writeFileSync(join(directory.path, 'ca.key'), ca.key)
    const after = ensurePki(directory.path, env, names)
    assert.deepEqual(after.ca, ca)
    assert.notDeepEqual(after.server, before.server)
    assert.notDeepEqual(after.admin, before.admin)
  })

  it('never replace a CA whose key is kept elsewhere', () => {
    using directory = scratch()
    const { ca } = ensurePki(directory.path, env, { hosts: [], serviceRange })
    rmSync(join(directory.path, 'ca.key'))
    assert.throws(() => ensurePki(directory.path, env, { hosts: [], serviceRange }), /ca\.crt needs its key/)
    assert.equal(readFileSync(join(directory.path, 'ca.crt'), 'utf8'), ca.certificate)
  })

  it('are finished where a start was killed after the key was written', () => {
    using directory = scratch()
    ensurePki(directory.path, env, { hosts: [], serviceRange })
    rmSync(join(directory.path, 'apiserver.crt'))
    ensurePki(directory.path, env, { hosts: [], serviceRange })
    assert.match(readFileSync(join(directory.path, 'apiserver.crt'), 'utf8'), /BEGIN CERTIFICATE/)
  })
})

describe('certificates that flags name', () => {
  /** Two PKIs: ours, and one whose certificate the flags name. */
  function prepare(directory: string, ...hosts: string[]) {
    const pki = ensurePki(join(directory, 'pki'), env, { hosts: [], serviceRange })
    const { server } = ensurePki(join(directory, 'given'), env, { hosts, serviceRange })
    const files = [join(directory, 'given/apiserver.crt'), join(directory, 'given/apiserver.key')] as const
    return { pki, server, files, clientCa: pki.ca.certificate }
  }

  it('are served, with the generated one for clients of this machine', () => {
    using directory = scratch()
    const { pki, server, files, clientCa } = prepare(directory.path)
    const flags = parse('--tls-cert-file', files[0], '--tls-private-key-file', files[1])
    const { tls, rootCa, serverName } = loadServingCertificates(flags, pki, { clientCa, env })
    assert.deepEqual([tls.cert, tls.key], [server.certificate, server.key])
    assert.deepEqual(tls.named?.[0], {
      names: [serverName],
      cert: pki.server.certificate,
      key: pki.server.key,
    })
    assert.ok(rootCa.includes(server.certificate) && rootCa.includes(pki.ca.certificate.trim()))
  })

  it('have the names that the flag gives before those of a certificate', () => {
    using directory = scratch()
    const { pki, files, clientCa } = prepare(directory.path, 'x.test')
    const pair = files.join(',')
    const flags = parse('--tls-sni-cert-key', pair, '--tls-sni-cert-key', `${pair}:y.test`)
    const { tls } = loadServingCertificates(flags, pki, { clientCa, env })
    const [, given, implied] = tls.named ?? []
    assert.deepEqual(given?.names, ['y.test'])
    assert.ok(implied?.names.includes('x.test'))
    assert.equal(tls.cert, pki.server.certificate)
  })

  it('must be there and belong together', () => {
    using directory = scratch()
    const { pki, files, clientCa } = prepare(directory.path)
    const load = (cert: string, key: string) =>
      loadServingCertificates(parse('--tls-cert-file', cert, '--tls-private-key-file', key), pki, {
        clientCa,
        env,
      })
    assert.throws(
      () => load('/does/not/exist', files[1]),
      /--tls-cert-file \/does\/not\/exist: does not exist/,
    )
    assert.throws(() => load(files[1], files[1]), /does not contain any certificate/)
    assert.throws(
      () => load(files[0], join(directory.path, 'pki/apiserver.key')),
      /is not a certificate of the key/,
    )
  })

  it('are read again when their files change, and stay while those are broken', async () => {
    using directory = scratch()
    const { pki, files, clientCa } = prepare(directory.path)
    const world = new VirtualWorld({ seed: 1 })
    const flags = parse('--tls-cert-file', files[0], '--tls-private-key-file', files[1])
    const { reload } = loadServingCertificates(flags, pki, { clientCa, env: world })
    const used: ServerTls[] = []
    const stop = new AbortController()
    const ended = reload!(tls => used.push(tls), stop.signal).catch(() => {})
    const change = (certificate: string, second: number) => {
      writeFileSync(files[0], certificate)
      utimesSync(files[0], second, second)
    }
    await world.advance(61_000)
    assert.deepEqual(used, [])
    change('broken', 1)
    await world.advance(60_000)
    assert.deepEqual(used, [])
    writeFileSync(files[1], pki.server.key)
    change(pki.server.certificate, 2)
    await world.advance(60_000)
    assert.deepEqual(
      used.map(({ cert }) => cert),
      [pki.server.certificate],
    )
    stop.abort()
    await world.advance(1)
    await ended
  })
})
