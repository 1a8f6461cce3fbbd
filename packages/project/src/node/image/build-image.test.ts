import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, describe, it } from 'node:test'
import { isProjectError } from '../../errors.ts'
import { parseReference } from '../../image/reference.ts'
import { type BuildImageOptions, type BuiltImage, buildImage } from './build-image.ts'
import { loadImage } from './image-source.ts'
import { openLayout } from './layout.ts'
import { planImage } from './plan-image.ts'
import { writeImage } from './write-image.ts'

/** Temporary files of these tests alone. */
const staging = mkdtempSync(join(tmpdir(), 'coxswain-staging-'))
process.env.TMPDIR = staging
after(() => rmSync(staging, { recursive: true }))

interface Project extends Disposable {
  readonly path: string
  write(path: string, content: string): void
}

const coxswain = {
  'node_modules/coxswain/package.json':
    '{"name":"coxswain","version":"1.0.0","bin":{"coxswain":"./bin/c.js"}}',
  'node_modules/coxswain/bin/c.js': '',
}

function project(files: Record<string, string> = {}): Project {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'coxswain-project-')))
  const path = join(top, 'greeter')
  const write = (name: string, content: string) => {
    mkdirSync(dirname(join(path, name)), { recursive: true })
    writeFileSync(join(path, name), content)
  }
  const manifest =
    '{"name":"greeter","version":"1.0.0","dependencies":{"coxswain":"*"},"devDependencies":{"tool":"*"}}'
  for (const [name, content] of Object.entries({
    'package.json': manifest,
    'operator.ts': 'export {}',
    ...coxswain,
    'node_modules/tool/package.json': '{"name":"tool"}',
    ...files,
  }))
    write(name, content)
  return { path, write, [Symbol.dispose]: () => rmSync(top, { recursive: true }) }
}

const options = (folder: string): BuildImageOptions => ({
  folder,
  base: undefined,
  platforms: [{ os: 'linux', architecture: 'amd64' }],
  operators: ['operator.ts'],
  time: 0,
})

const layers = (folder: string) =>
  Object.fromEntries(
    planImage(folder, ['operator.ts']).layers.map(({ title, entries }) => [
      title,
      entries.map(entry => entry.path),
    ]),
  )

async function digest(folder: string): Promise<string> {
  using built: BuiltImage = await buildImage(options(folder))
  return built.image.root.digest
}

describe('the layers of a project', () => {
  it('are its production dependencies and its code', () => {
    using folder = project({ 'lib/a.ts': '' })
    assert.deepEqual(layers(folder.path), {
      dependencies: [
        'app',
        'app/node_modules',
        'app/node_modules/coxswain',
        'app/node_modules/coxswain/bin',
        'app/node_modules/coxswain/bin/c.js',
        'app/node_modules/coxswain/package.json',
      ],
      code: ['app', 'app/lib', 'app/lib/a.ts', 'app/operator.ts', 'app/package.json'],
    })
  })

  it('leave out what .dockerignore says, or .gitignore where there is none', () => {
    using folder = project({
      '.gitignore': 'dist\n',
      'dist/x': '',
      'lib/.gitignore': '*.tmp\n',
      'lib/a.tmp': '',
      'lib/b.ts': '',
    })
    assert.deepEqual(layers(folder.path).code, [
      'app',
      'app/.gitignore',
      'app/lib',
      'app/lib/.gitignore',
      'app/lib/b.ts',
      'app/operator.ts',
      'app/package.json',
    ])
    folder.write('.dockerignore', '**\n!package.json\n!operator.ts\n!lib/*.ts\n')
    assert.deepEqual(layers(folder.path).code, [
      'app',
      'app/lib',
      'app/lib/b.ts',
      'app/operator.ts',
      'app/package.json',
    ])
    folder.write('.dockerignore', 'operator.ts\n')
    assert.throws(() => layers(folder.path), /operator\.ts is not in the image: .*\.dockerignore/)
  })

  it('have no secrets, whatever the ignore files say', () => {
    const key = `-----BEGIN ${''}PRIVATE KEY-----`
    using folder = project({
      '.dockerignore': '!.env\n!.git\n',
      '.env': 'X=1',
      '.npmrc': '//r/:_authToken=x',
      '.git/config': '',
      '.coxswain/pki/ca.key': key,
      'certs/ca.pem': key,
      'kube.yaml': 'kind: Config\nusers: [{user: {token: x}}]',
      'node_modules/.cache/x': '',
      'node_modules/coxswain/.env': 'Y=1',
    })
    const plan = planImage(folder.path, ['operator.ts'])
    const paths = plan.layers.flatMap(layer => layer.entries.map(entry => entry.path)).join('\n')
    assert.doesNotMatch(paths, /\.env|\.npmrc|\.git\/|\.coxswain|ca\.pem|kube\.yaml|\.cache/)
    assert.equal(plan.warnings.length, 2)
    assert.match(plan.warnings.join('\n'), /ca\.pem is left out: it has a private key/)
  })

  it('follow links of workspaces, which are a layer of their own', () => {
    using folder = project({
      'package.json': '{"name":"greeter","dependencies":{"coxswain":"*","shared":"file:../shared"}}',
    })
    const shared = join(folder.path, '../shared')
    mkdirSync(join(shared, 'node_modules/deep'), { recursive: true })
    writeFileSync(join(shared, 'package.json'), '{"name":"shared","dependencies":{"deep":"*"}}')
    writeFileSync(join(shared, 'node_modules/deep/package.json'), '{"name":"deep"}')
    symlinkSync('../../shared', join(folder.path, 'node_modules/shared'))
    const found = layers(folder.path)
    assert.deepEqual(found['linked packages'], ['app', 'app/shared', 'app/shared/package.json'])
    assert.ok(found.dependencies?.includes('app/shared/node_modules/deep/package.json'))
    assert.ok(found.dependencies?.includes('app/greeter/node_modules/shared'))
    assert.equal(planImage(folder.path, ['operator.ts']).workingDirectory, '/app/greeter')
  })

  it('refuse what would break, or show other files', () => {
    using folder = project()
    const refused = (pattern: RegExp) =>
      assert.throws(
        () => layers(folder.path),
        error => isProjectError(error, 'BadProject') && pattern.test(error.message),
      )
    symlinkSync('/etc/passwd', join(folder.path, 'users'))
    refused(/users is a symbolic link that leads out of .*greeter/)
    rmSync(join(folder.path, 'users'))
    symlinkSync('nowhere', join(folder.path, 'broken'))
    refused(/broken is a symbolic link to a file that does not exist/)
    rmSync(join(folder.path, 'broken'))
    folder.write('package.json', '{"dependencies":{"coxswain":"*","absent":"*"}}')
    refused(/absent, a dependency of .*greeter, is not installed: run npm ci/)
    folder.write('package.json', '{"dependencies":{"../../etc":"*"}}')
    refused(/is not the name of a package/)
    folder.write('package.json', '{"devDependencies":{"coxswain":"*"}}')
    refused(/coxswain is not one of its dependencies/)
    folder.write('package.json', '{"dependencies":')
    refused(/package\.json cannot be read/)
  })
})

describe('an image', () => {
  it('has the same digest from the same files, and another when one of them changes', async () => {
    using folder = project({ 'lib/run.sh': 'x' })
    const first = await digest(folder.path)
    utimesSync(join(folder.path, 'operator.ts'), 1, 1)
    chmodSync(join(folder.path, 'lib'), 0o700)
    chmodSync(join(folder.path, 'operator.ts'), 0o600)
    assert.equal(await digest(folder.path), first)
    using copy = project({ 'lib/run.sh': 'x' })
    assert.equal(await digest(copy.path), first)
    chmodSync(join(folder.path, 'lib/run.sh'), 0o755)
    assert.notEqual(await digest(folder.path), first)
  })

  it('is written as a layout and as an archive, and read again', async () => {
    using folder = project()
    using built = await buildImage(options(folder.path))
    const tags = [parseReference('localhost/greeter:1')]
    const paths = ['layout', 'image.tar'].map(name => join(folder.path, '..', name))
    for (const output of paths) {
      await writeImage(built.image, { output, tags })
      const image = await loadImage(openLayout(output))
      assert.equal(image.root.digest, built.image.root.digest)
      assert.equal(image.manifests[0]?.layers.length, 2)
      for await (const _ of image.manifests[0]!.layers[0]!.open()); // throws when the digest differs
    }
    const listed = execFileSync('tar', ['-tf', paths[1]!], { encoding: 'utf8' })
    assert.match(listed, /^manifest\.json$/m)
    await writeImage(built.image, { output: paths[0]!, tags })
    assert.deepEqual(readdirSync(paths[0]!).sort(), ['blobs', 'index.json', 'oci-layout'])
  })

  it('replaces nothing but a layout, and leaves nothing half written', async () => {
    using folder = project({ 'precious/file': 'x' })
    using built = await buildImage(options(folder.path))
    const output = join(folder.path, 'precious')
    await assert.rejects(
      writeImage(built.image, { output, tags: [] }),
      error => isProjectError(error, 'NotWritten') && /is not empty/.test(error.message),
    )
    assert.equal(readFileSync(join(output, 'file'), 'utf8'), 'x')
    truncateSync(findLayerFile(built), 3) // as if the disk lost a part of it
    const target = join(folder.path, 'image.tar')
    await assert.rejects(
      writeImage(built.image, { output: target, tags: [] }),
      error =>
        isProjectError(error, 'BadImage') && error.message.includes(built.layers[0]!.blob.descriptor.digest),
    )
    assert.deepEqual(
      readdirSync(folder.path).filter(name => name.includes('image.tar')),
      [],
    )
  })

  it('removes its files when it is disposed of', async () => {
    using folder = project()
    const before = stagingFolders()
    {
      using _built = await buildImage(options(folder.path))
      assert.equal(stagingFolders().length, before.length + 1)
    }
    assert.deepEqual(stagingFolders(), before)
  })
})

const stagingFolders = () => readdirSync(staging).filter(name => name.startsWith('coxswain-image-'))

/** The file of the first layer. */
function findLayerFile(built: BuiltImage): string {
  const size = built.layers[0]!.blob.descriptor.size
  const files = stagingFolders().map(name => join(staging, name, '0.tar.gz'))
  const found = files.find(file => readFileSync(file).length === size)
  assert.ok(found)
  return found
}
