import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { coxswain, execute, type Outcome, root, startServer } from '../support/coxswain.ts'
import { writeBase } from './base.ts'
import { type Registry, startRegistry } from './registry.ts'

const scratch = mkdtempSync(join(tmpdir(), 'coxswain-image-suite-'))
const base = `oci:${join(scratch, 'base')}`
/** A copy of a project, with only what it needs: the files of its own image. */
const project = join(scratch, 'copy/app/examples/01-at')
let registry: Registry

before(async () => {
  registry = await startRegistry()
  await writeBase(join(scratch, 'base'), scratch)
  const layout = join(scratch, 'first')
  await ok(coxswain('image', 'build', 'examples/01-at', '--base', 'scratch', '--output', layout))
  await unpack(layout, join(scratch, 'copy'))
})
after(async () => {
  await registry[Symbol.asyncDispose]()
  rmSync(scratch, { recursive: true })
})

async function ok(running: Promise<Outcome>): Promise<Outcome> {
  const outcome = await running
  assert.equal(outcome.code, 0, outcome.stderr)
  return outcome
}

const program = (name: string, ...args: string[]) => ok(execute(name, args))
const skopeo = async (...args: string[]) => JSON.parse((await program('skopeo', ...args)).stdout)
const name = (repository: string) => `${registry.host}/${repository}`
const build = (...args: string[]) => ok(coxswain('image', 'build', project, ...args))
const digestIn = ({ stdout }: Outcome) => /@(sha256:[0-9a-f]{64})$/m.exec(stdout)?.[1] ?? ''
const outcomes = ({ stderr }: Outcome) =>
  [...stderr.matchAll(/ (present|mounted|uploaded), /g)].map(([, how]) => how)
const remote = (repository: string) => ['--tls-verify=false', `docker://${name(repository)}`]

/** Extracts the layers of a layout with tar, as a runtime would. */
async function unpack(layout: string, folder: string): Promise<Record<string, unknown>> {
  const blob = (digest: string) => join(layout, 'blobs', digest.replace(':', '/'))
  const read = (path: string) => JSON.parse(readFileSync(path, 'utf8'))
  const manifest = read(blob(read(join(layout, 'index.json')).manifests[0].digest))
  mkdirSync(folder, { recursive: true })
  for (const { digest } of manifest.layers)
    await program('tar', '-xzf', blob(digest), '-C', folder, '--numeric-owner')
  return read(blob(manifest.config.digest)).config
}

describe('an image', { concurrency: 1 }, () => {
  it('has the same digest from the same files, wherever they are and whenever they were written', async () => {
    const there = await ok(
      coxswain('image', 'build', 'examples/01-at', '--base', base, '--output', join(scratch, 'there')),
    )
    const here = await build('--base', base, '--output', join(scratch, 'here'))
    const again = await build('--base', base, '--output', join(scratch, 'here'))
    assert.match(digestIn(here), /^sha256:/)
    assert.equal(digestIn(again), digestIn(here))
    assert.equal(digestIn(there), digestIn(here))
  })

  it('is pushed to a real registry, where skopeo reads the same digest and configuration', async () => {
    const pushed = await build(
      '--base',
      base,
      '--tag',
      name('team/at:1'),
      '--tag',
      name('team/at:latest'),
      '--push',
    )
    assert.deepEqual(
      pushed.stdout.split('\n').map(line => line.split('@')[0]),
      [name('team/at:1'), name('team/at:latest'), ''],
    )
    const inspected = await skopeo('inspect', ...remote('team/at:1'))
    assert.equal(inspected.Digest, digestIn(pushed))
    assert.deepEqual(inspected.RepoTags.sort(), ['1', 'latest'])
    const { config, rootfs } = await skopeo('inspect', '--config', ...remote('team/at:latest'))
    assert.equal(config.User, '65532:65532')
    assert.deepEqual(config.Entrypoint, ['node', '/app/packages/coxswain/bin/coxswain.js'])
    assert.deepEqual(config.Cmd, ['run', 'operator.ts'])
    assert.equal(config.WorkingDir, '/app/examples/01-at')
    assert.equal(config.Labels.vendor, 'shipyard')
    assert.equal(config.Labels['org.opencontainers.image.title'], '@coxswain/example-at')
    assert.equal(rootfs.diff_ids.length, 4)
  })

  it('is copied by skopeo without a change', async () => {
    const target = join(scratch, 'by-skopeo')
    await program(
      'skopeo',
      'copy',
      '--src-tls-verify=false',
      `docker://${name('team/at:1')}`,
      `oci:${target}:1`,
    )
    const { Digest } = await skopeo('inspect', ...remote('team/at:1'))
    assert.equal((await skopeo('inspect', `oci:${target}:1`)).Digest, Digest)
    const pushed = await ok(coxswain('image', 'push', target, name('team/at-again:1')))
    assert.equal(digestIn(pushed), Digest)
  })

  it('is pushed again without sending a layer, and after a change of code with the code alone', async () => {
    const tag = ['--base', base, '--tag', name('team/at:2'), '--push']
    assert.deepEqual(new Set(outcomes(await build(...tag))), new Set(['present']))
    const stored = registry.storedBytes()
    appendFileSync(join(project, 'operator.ts'), '// A comment.\n')
    const changed = await build(...tag)
    assert.deepEqual(outcomes(changed).sort(), ['present', 'present', 'present', 'uploaded', 'uploaded'])
    const sent = registry.storedBytes() - stored
    assert.ok(sent > 0 && sent < 20_000, `${sent} bytes are new in the registry`)
  })

  it('mounts the layers of a base image that is in the same registry', async () => {
    await ok(coxswain('image', 'push', join(scratch, 'base'), name('library/node:1')))
    const pushed = await build('--base', name('library/node:1'), '--tag', name('other/at:1'), '--push')
    assert.equal(outcomes(pushed).filter(how => how === 'mounted').length, 1)
    const { Labels } = await skopeo('inspect', ...remote('other/at:1'))
    assert.equal(Labels['org.opencontainers.image.base.name'], name('library/node:1'))
    assert.equal(
      Labels['org.opencontainers.image.base.digest'],
      (await skopeo('inspect', ...remote('library/node:1'))).Digest,
    )
  })

  it('has an index for several platforms', async () => {
    const pushed = await build(
      '--base',
      'scratch',
      '--platform',
      'linux/amd64,linux/arm64',
      '--tag',
      name('team/many:1'),
      '--push',
    )
    const { manifests } = await skopeo('inspect', '--raw', ...remote('team/many:1'))
    assert.deepEqual(
      manifests.map((each: { platform: { architecture: string } }) => each.platform.architecture),
      ['amd64', 'arm64'],
    )
    const arm = await skopeo('--override-arch', 'arm64', 'inspect', ...remote('team/many:1'))
    assert.equal(arm.Architecture, 'arm64')
    assert.match(digestIn(pushed), /^sha256/)
  })

  it('carries its bill of materials', async () => {
    const file = join(scratch, 'sbom.json')
    const pushed = await build('--base', base, '--tag', name('team/sbom:1'), '--push', '--sbom', file)
    const sbom = JSON.parse(readFileSync(file, 'utf8'))
    assert.ok(sbom.packages.some((each: { name: string }) => each.name === 'commander'))
    const list = await skopeo(
      'inspect',
      '--raw',
      ...remote(`team/sbom:${digestIn(pushed).replace(':', '-')}`),
    )
    assert.equal(list.manifests[0].artifactType, 'application/spdx+json')
    const referrer = await skopeo(
      'inspect',
      '--raw',
      '--tls-verify=false',
      `docker://${name('team/sbom')}@${list.manifests[0].digest}`,
    )
    assert.equal(referrer.subject.digest, digestIn(pushed))
    const attached = await fetch(`http://${registry.host}/v2/team/sbom/blobs/${referrer.layers[0].digest}`)
    assert.deepEqual(await attached.json(), sbom)
  })

  it('is loaded by podman from an archive', async () => {
    const archive = join(scratch, 'at.tar')
    await build('--base', 'scratch', '--tag', 'localhost/coxswain-suite-at:1', '--output', archive)
    const storage = [
      '--root',
      join(scratch, 'podman'),
      '--runroot',
      join(scratch, 'podman-run'),
      '--storage-driver',
      'vfs',
    ]
    await program('podman', ...storage, 'load', '-i', archive)
    const [image] = await JSON.parse(
      (await program('podman', ...storage, 'image', 'inspect', 'localhost/coxswain-suite-at:1')).stdout,
    )
    assert.deepEqual(image.Config.Cmd, ['run', 'operator.ts'])
    assert.equal(image.Config.User, '65532:65532')
    assert.equal((await skopeo('inspect', `docker-archive:${archive}`)).Architecture, image.Architecture)
    await program('podman', ...storage, 'rmi', '--force', '--all')
  })

  it('runs from its own files alone, as its user', async () => {
    const files = join(scratch, 'rootfs')
    const layout = join(scratch, 'runnable')
    await build('--base', base, '--output', layout)
    const config = await unpack(layout, files)
    assert.ok(!existsSync(join(files, 'app/node_modules/typescript')), 'development dependencies stay out')
    await using server = await startServer('--controllers', 'none')
    copyFileSync(server.kubeconfig, join(files, 'kubeconfig'))
    chmodSync(join(files, 'kubeconfig'), 0o644)
    const args = [
      ...(config.Entrypoint as string[]),
      'run',
      'operator.ts',
      '--install',
      '--kubeconfig',
      '/kubeconfig',
    ]
    // What a runtime does: the working directory, the environment, then the entry point.
    const start = `process.chdir(${JSON.stringify(config.WorkingDir)}); process.execve('/usr/local/bin/node', ${JSON.stringify(args)}, { NODE_ENV: 'production' })`
    const child = spawn('chroot', [`--userspec=${config.User}`, files, '/usr/local/bin/node', '-e', start])
    const installed = new Promise<void>((resolve, reject) => {
      let output = ''
      const hear = (chunk: Buffer) => {
        output += chunk
        if (/running cnat against .*\n[\s\S]*customresourcedefinition \S+ created/.test(output)) resolve()
      }
      child.stdout.on('data', hear)
      child.stderr.on('data', hear)
      child.on('exit', code => reject(new Error(`it ended with ${code}: ${output}`)))
    })
    const late = setTimeout(() => child.kill(), 60_000)
    await installed.finally(() => {
      clearTimeout(late)
      child.kill()
    })
  })
})

describe('a registry that requires a password', { concurrency: 1 }, () => {
  let closed: Registry
  before(async () => {
    closed = await startRegistry('password')
  })
  after(() => closed[Symbol.asyncDispose]())

  const push = async (environment: Record<string, string>) =>
    await execute(
      process.execPath,
      [
        join(root, 'packages/coxswain/bin/coxswain.js'),
        'image',
        'push',
        join(scratch, 'first'),
        `${closed.host}/at:1`,
      ],
      { HOME: scratch, ...environment },
    )

  function configuration(content: object): string {
    const folder = mkdtempSync(join(scratch, 'docker-'))
    writeFileSync(join(folder, 'config.json'), JSON.stringify(content))
    return folder
  }

  it('answers 401 without one, and the command says what to do', async () => {
    const { code, stderr, stdout } = await push({})
    assert.equal(code, 1)
    assert.match(
      stderr,
      /^coxswain: .*: 401.*there are no credentials for 127\.0\.0\.1:\d+: run docker login/,
    )
    assert.equal(stderr.trim().split('\n').length, 1)
    assert.equal(stdout, '')
  })

  it('rejects a wrong one', async () => {
    const auths = { [closed.host]: { auth: Buffer.from('sailor:wrong').toString('base64') } }
    const { code, stderr } = await push({ DOCKER_CONFIG: configuration({ auths }) })
    assert.equal(code, 1)
    assert.match(stderr, /the credentials for .* are not accepted/)
    assert.ok(!stderr.includes('wrong'))
  })

  it('accepts the one of the configuration file, and of a credential helper', async () => {
    const auths = { [closed.host]: { auth: Buffer.from('sailor:ahoy').toString('base64') } }
    await ok(push({ DOCKER_CONFIG: configuration({ auths }) }))
    const helper = join(scratch, 'docker-credential-chest')
    writeFileSync(
      helper,
      '#!/bin/sh\nread host\nprintf \'{"ServerURL":"%s","Username":"sailor","Secret":"ahoy"}\' "$host"\n',
    )
    chmodSync(helper, 0o755)
    const DOCKER_CONFIG = configuration({ credHelpers: { [closed.host]: 'chest' } })
    await ok(push({ DOCKER_CONFIG, PATH: `${scratch}:${process.env.PATH}` }))
    const { code, stderr } = await push({ DOCKER_CONFIG, PATH: '/nowhere' })
    assert.equal(code, 1)
    assert.match(stderr, /docker-credential-chest, .*: it is not in PATH/)
  })
})
