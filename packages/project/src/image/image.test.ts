import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { decodeText, encodeText } from '@coxswain/kit'
import { isProjectError } from '../errors.ts'
import { emptyConfig, extendConfig } from './documents.ts'
import { parseIgnore } from './ignore.ts'
import { isSamePlatform, parsePlatform } from './platform.ts'
import { formatReference, parseReference } from './reference.ts'
import { describeSecret, isNeverIncluded, mayBeSecret } from './secrets.ts'
import { createSpdx } from './spdx.ts'
import { tarHeader, tarPadding } from './tar.ts'

describe('names of images', () => {
  it('are read as docker reads them', () => {
    const full = (text: string) => formatReference(parseReference(text))
    assert.equal(full('node:26-slim'), 'docker.io/library/node:26-slim')
    assert.equal(full('team/greeter'), 'docker.io/team/greeter:latest')
    assert.equal(full('localhost/greeter'), 'localhost/greeter:latest')
    assert.equal(full('127.0.0.1:5000/a/b:1'), '127.0.0.1:5000/a/b:1')
    assert.equal(full('[::1]:5000/a'), '[::1]:5000/a:latest')
    const digest = `sha256:${'0'.repeat(64)}`
    assert.equal(full(`gcr.io/x@${digest}`), `gcr.io/x@${digest}`)
  })

  it('are refused when they could mean something else', () => {
    const bad = [
      '',
      'team/UPPER',
      'a//b',
      'a/../b',
      'a:tag:tag',
      'x:',
      'x@sha256:1',
      '-x',
      'host.io/',
      'a b',
      `a/${'b'.repeat(600)}`,
      'evil.com/a?b',
    ]
    for (const text of bad)
      assert.throws(
        () => parseReference(text),
        error => isProjectError(error, 'BadReference'),
        text,
      )
  })
})

describe('platforms', () => {
  it('match when os, architecture and variant do', () => {
    const arm = parsePlatform('linux/arm64')
    assert.ok(isSamePlatform(arm, { os: 'linux', architecture: 'arm64', variant: 'v8' }))
    assert.ok(isSamePlatform(parsePlatform('linux/arm64/v8'), arm))
    assert.ok(
      !isSamePlatform(parsePlatform('linux/arm/v7'), { os: 'linux', architecture: 'arm', variant: 'v6' }),
    )
    assert.throws(
      () => parsePlatform('amd64'),
      error => isProjectError(error, 'BadReference'),
    )
  })
})

describe('tar headers', () => {
  it('have no owner, a fixed time, and a checksum', () => {
    const header = tarHeader({ path: 'app/run', type: 'file', size: 9, executable: true }, 12)
    const text = decodeText(header)
    assert.equal(header.length, 512)
    assert.equal(text.slice(0, 7), 'app/run')
    assert.equal(text.slice(100, 107), '0000755')
    assert.equal(text.slice(108, 123), '0000000\x000000000')
    assert.equal(text.slice(136, 147), '00000000014')
    const sum = header.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 32 : byte), 0)
    assert.equal(Number.parseInt(text.slice(148, 154), 8), sum)
    assert.equal(tarPadding(9).length, 503)
    assert.equal(tarPadding(512).length, 0)
  })

  it('have an extended header for long and other than ASCII names, and for large files', () => {
    const path = `${'long/'.repeat(30)}ß`
    const text = decodeText(tarHeader({ path, type: 'file', size: 2 ** 34 }, 0))
    const length = encodeText(` path=${path}\n`).length + 3
    assert.ok(text.includes(`${length} path=${path}\n`))
    assert.ok(text.includes('20 size=17179869184\n'))
    assert.equal(encodeText(text).length % 512, 0)
  })

  it('lead nowhere else', () => {
    for (const path of ['/etc/passwd', '../x', 'a/../../x', 'a//b', '.', ''])
      assert.throws(
        () => tarHeader({ path, type: 'file' }, 0),
        error => isProjectError(error, 'BadPath'),
        path,
      )
  })
})

describe('ignore files', () => {
  const ignored = (text: string, syntax: 'git' | 'docker') => {
    const rules = parseIgnore(text, syntax)
    return (path: string, kind: 'file' | 'folder' = 'file') => rules.decide(path, kind)
  }

  it('match at every depth in .gitignore, at the top in .dockerignore', () => {
    const git = ignored('# comment\ndist\n/only\n*.log\nbuild/\na/**/z\n!keep.log\n', 'git')
    assert.equal(git('x/dist'), 'ignored')
    assert.equal(git('x/only'), undefined)
    assert.equal(git('only'), 'ignored')
    assert.equal(git('x/y.log'), 'ignored')
    assert.equal(git('x/keep.log'), 'included')
    assert.equal(git('build'), undefined)
    assert.equal(git('build', 'folder'), 'ignored')
    assert.equal(git('a/z'), 'ignored')
    assert.equal(git('a/b/c/z'), 'ignored')
    const docker = ignored('dist\n**/*.md\n!README.md\n', 'docker')
    assert.equal(docker('x/dist'), undefined)
    assert.equal(docker('x/y.md'), 'ignored')
    assert.equal(docker('README.md'), 'included')
  })

  it('know classes, single characters and escapes', () => {
    const git = ignored('[a-c]?.ts\n[!x]y\n\\!important\n\\*\n', 'git')
    assert.equal(git('b1.ts'), 'ignored')
    assert.equal(git('d1.ts'), undefined)
    assert.equal(git('zy'), 'ignored')
    assert.equal(git('xy'), undefined)
    assert.equal(git('!important'), 'ignored')
    assert.equal(git('*'), 'ignored')
    assert.equal(git('other'), undefined)
  })

  it('take no time that grows with more than their length', () => {
    const started = performance.now()
    ignored(`${'**/'.repeat(500)}x\n${'*a'.repeat(500)}b`, 'git')(`${'a/'.repeat(500)}${'a'.repeat(2000)}`)
    assert.ok(performance.now() - started < 2000)
  })
})

describe('secrets', () => {
  it('are known by their names', () => {
    for (const name of ['.env', '.env.local', '.npmrc', 'kubeconfig', 'admin.kubeconfig', 'id_ed25519'])
      assert.ok(isNeverIncluded(name, 'file'), name)
    for (const name of ['.env.example', 'environment.ts', 'kubeconfig.ts'])
      assert.ok(!isNeverIncluded(name, 'file'), name)
    assert.ok(isNeverIncluded('.git', 'folder'))
    assert.ok(!isNeverIncluded('kubeconfig', 'folder'))
  })

  it('are known by their content', () => {
    const describeText = (text: string) => describeSecret(encodeText(text))
    assert.equal(describeText(`-----BEGIN ${'EC '}PRIVATE KEY-----\nx`), 'a private key')
    assert.equal(
      describeText('apiVersion: v1\nkind: Config\nusers:\n- user: {token: abc}\n'),
      'a kubeconfig with credentials',
    )
    assert.equal(
      describeText('{"kind": "Config", "users": [{"user": {"client-key-data": "YQ=="}}]}'),
      'a kubeconfig with credentials',
    )
    assert.equal(describeText('kind: Config\nclusters: []\n'), undefined)
    assert.equal(describeText('kind: ConfigMap\ndata: {token: x}\n'), undefined)
    assert.ok(!mayBeSecret('kubeconfig.test.ts'))
  })
})

describe('the configuration of an image', () => {
  it('keeps what the base says, apart from what is run', () => {
    const base = {
      ...emptyConfig({ os: 'linux', architecture: 'amd64' }),
      config: { Env: ['PATH=/bin', 'NODE_ENV=test'], Cmd: ['sh'], StopSignal: 'SIGINT' },
      history: [{ created_by: 'base' }],
      rootfs: { type: 'layers' as const, diff_ids: ['sha256:a'] },
    }
    const extended = extendConfig(base, {
      created: '1970-01-01T00:00:00Z',
      layers: [{ diffId: 'sha256:b', title: 'code' }],
      entrypoint: ['node', 'x'],
      cmd: ['run'],
      workingDirectory: '/app',
      user: '65532:65532',
      env: { NODE_ENV: 'production' },
      labels: { b: '1', a: '2' },
    })
    assert.deepEqual(extended.config?.Env, ['PATH=/bin', 'NODE_ENV=production'])
    assert.equal(extended.config?.StopSignal, 'SIGINT')
    assert.deepEqual(Object.keys(extended.config?.Labels ?? {}), ['a', 'b'])
    assert.deepEqual(extended.rootfs.diff_ids, ['sha256:a', 'sha256:b'])
    assert.equal(extended.history?.length, 2)
  })
})

describe('the bill of materials', () => {
  it('names packages, their licences and who depends on what', () => {
    const document = JSON.parse(
      JSON.stringify(
        createSpdx({
          project: { name: '@team/greeter', version: '1.0.0', dependsOn: ['left@1.2.3'] },
          packages: [{ name: 'left', version: '1.2.3', license: 'MIT', sha512: 'ab', dependsOn: [] }],
          base: { name: 'docker.io/library/node:26-slim', digest: `sha256:${'1'.repeat(64)}` },
          created: '1970-01-01T00:00:00Z',
          digest: `sha256:${'2'.repeat(64)}`,
        }),
      ),
    )
    assert.equal(document.spdxVersion, 'SPDX-2.3')
    const [project, left, base] = document.packages
    assert.equal(project.externalRefs[0].referenceLocator, 'pkg:npm/%40team/greeter@1.0.0')
    assert.equal(left.licenseDeclared, 'MIT')
    assert.deepEqual(left.checksums, [{ algorithm: 'SHA512', checksumValue: 'ab' }])
    const relations = document.relationships.map(
      (each: Record<string, string>) =>
        `${each.spdxElementId} ${each.relationshipType} ${each.relatedSpdxElement}`,
    )
    assert.deepEqual(relations, [
      `SPDXRef-DOCUMENT DESCRIBES ${project.SPDXID}`,
      `${project.SPDXID} DEPENDS_ON ${left.SPDXID}`,
      `${project.SPDXID} DESCENDANT_OF ${base.SPDXID}`,
    ])
    for (const { SPDXID } of document.packages) assert.match(SPDXID, /^SPDXRef-[A-Za-z0-9.-]+$/)
  })
})
