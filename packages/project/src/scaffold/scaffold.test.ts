import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { isProjectError, type ProjectErrorCode } from '../errors.ts'
import { diffTexts } from './diff-texts.ts'
import { insertAtMarker } from './insert.ts'
import { mergeTexts } from './merge-texts.ts'
import { completePackageJson } from './package-json.ts'
import { pluginFiles } from './plugin-files.ts'
import { type ProjectFile, readProjectFile, writeProjectFile } from './project-file.ts'
import { scaffoldVersion } from './project-files.ts'
import { type CreateApi, createApi, createWebhook, pristineFiles } from './scaffold.ts'
import { extendBase, newBase, readBase, writeBase } from './scaffold-base.ts'
import { planUpgrade } from './upgrade.ts'

const empty: ProjectFile = { domain: 'example.com', projectName: 'fleet', resources: [] }
const captain: CreateApi = {
  group: 'crew',
  version: 'v1',
  kind: 'Captain',
  namespaced: true,
  resource: true,
  controller: true,
}
const webhook = { ...captain, defaulting: true, validating: true, spokes: [] }

const fails = (code: ProjectErrorCode, message: RegExp) => (error: unknown) =>
  isProjectError(error, code) && message.test(error.message)

describe('scaffolding a project', () => {
  it('has the version of the package', () => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
    assert.equal(scaffoldVersion, version)
  })

  it('records a kind as kubebuilder does, and adds its controller to the operator', () => {
    const { project, files, insertions } = createApi(empty, captain)
    assert.deepEqual(
      files.map(({ path }) => path),
      ['api/captain.ts', 'controllers/captain.ts', 'controllers/captain.test.ts'],
    )
    assert.deepEqual(
      insertions.map(({ marker, lines }) => [marker, ...lines]),
      [
        ['imports', "import { addCaptainController } from './controllers/captain.ts'"],
        ['controllers', 'addCaptainController(operator)'],
      ],
    )
    assert.deepEqual(readProjectFile(writeProjectFile(project)), project)
    assert.match(writeProjectFile(project), /layout:\n- ts.coxswain\/v1\n/)
    const pristine = pristineFiles(project)
    assert.match(pristine.get('operator.ts')!, /captain\.ts'\n\/\/ \+coxswain:scaffold:imports/)
  })

  it('adds a version to a kind, and webhooks that convert it', () => {
    const first = createApi(empty, captain).project
    const second = createApi(first, { ...captain, version: 'v2' })
    assert.deepEqual(second.files, [])
    assert.equal(second.insertions[0]?.marker, 'versions')
    const { project } = createWebhook(second.project, { ...webhook, spokes: ['v2'] })
    assert.deepEqual(project.resources[0]?.webhooks, {
      defaulting: true,
      validation: true,
      conversion: true,
      spoke: ['v2'],
      webhookVersion: 'v1',
    })
    const files = pristineFiles(project)
    assert.match(files.get('api/captain.ts')!, /^ {2}conversions: \{\n {4}v1: \{\n {6}v2: \{$/m)
    assert.match(
      files.get('api/captain.ts')!,
      /^ {4}v2: \{\n {6}spec:/m,
      'the version, whose lines are not those of the conversion',
    )
    assert.match(files.get('webhooks/captain.ts')!, /\.webhook\(Captain\.v1\)/)
  })

  const refused: readonly [string, Partial<CreateApi>, ProjectErrorCode, RegExp][] = [
    [
      'a kind in lower case',
      { kind: 'constructor' },
      'BadName',
      /--kind constructor: must be in PascalCase \(expected Constructor/,
    ],
    ['a kind with a dash', { kind: 'Big-Ship' }, 'BadName', /letters and digits/],
    ['a kind that is too long', { kind: 'A'.repeat(64) }, 'BadName', /63 characters/],
    ['a kind that is imported', { kind: 'KindOf' }, 'BadName', /choose another/],
    [
      'a group with dots',
      { group: 'crew.example.com' },
      'BadName',
      /must not have dots: the domain example.com is appended/,
    ],
    ['a group in upper case', { group: 'Crew' }, 'BadName', /--group Crew: /],
    ['a version without a v', { version: '1' }, 'BadName', /--version 1: must be a version such as v1/],
    ['a kind that exists', {}, 'Exists', /crew\/v1, kind Captain already exists/],
    [
      'a kind whose file exists',
      { kind: 'CAPTAIN' },
      'Exists',
      /api\/captain.ts is the file of crew\/Captain/,
    ],
    [
      'a controller for a kind that does not exist',
      { kind: 'Ship', resource: false },
      'BadName',
      /create it with --resource/,
    ],
  ]
  for (const [what, change, code, message] of refused)
    it(`refuses ${what}`, () => {
      const { project } = createApi(empty, captain)
      assert.throws(() => createApi(project, { ...captain, ...change }), fails(code, message))
    })

  it('refuses webhooks without a kind, twice, for nothing, and for versions that do not exist', () => {
    const { project } = createApi(empty, captain)
    assert.throws(() => createWebhook(empty, webhook), fails('BadName', /run coxswain create api first/))
    const done = createWebhook(project, webhook).project
    assert.throws(() => createWebhook(done, webhook), fails('Exists', /edit webhooks\/captain.ts/))
    const nothing = { ...webhook, defaulting: false, validating: false }
    assert.throws(() => createWebhook(project, nothing), fails('BadName', /at least one of/))
    assert.throws(
      () => createWebhook(project, { ...webhook, spokes: ['v9'] }),
      fails('BadName', /--spoke v9/),
    )
  })

  it('refuses a project file of another layout, version or shape', () => {
    for (const [text, message] of [
      ['version: "2"\n', /version 2/],
      [
        'version: "3"\nlayout: [go.kubebuilder.io/v4]\ndomain: a\nprojectName: b\n',
        /has the layout go.kubebuilder.io\/v4/,
      ],
      ['[]', /is not a project file/],
      [
        'version: "3"\nlayout: [ts.coxswain/v1]\ndomain: a\nprojectName: b\nresources: [{ kind: X }]\n',
        /without group/,
      ],
      ['a: [', /PROJECT: /],
    ] as const)
      assert.throws(() => readProjectFile(text), fails('BadProject', message), text)
  })

  it('keeps what package.json has, and replaces the test that npm init writes', () => {
    const own = {
      name: 'mine',
      scripts: { test: 'echo "Error: no test specified"', lint: 'x' },
      dependencies: { coxswain: '9.9.9' },
    }
    const completed = JSON.parse(completePackageJson(JSON.stringify(own), 'fleet'))
    assert.equal(completed.name, 'mine')
    assert.deepEqual(
      [completed.scripts.test, completed.scripts.lint, completed.scripts.dev],
      ['node --test', 'x', 'coxswain dev'],
    )
    assert.equal(completed.dependencies.coxswain, '9.9.9')
    assert.equal(completed.scripts.install, undefined, 'npm would run it with every npm install')
    assert.throws(() => completePackageJson('{', 'fleet'), fails('BadProject', /package.json: /))
  })

  it('makes a kubectl plug-in for the kind, and refuses names that kubectl would not find', () => {
    const [plugin] = pluginFiles(createApi(empty, captain).project, 'crew_list')
    assert.equal(plugin?.path, 'plugins/kubectl-crew_list.ts')
    assert.ok(plugin.executable)
    assert.match(String(plugin.content), /^#!.*node\n/)
    assert.throws(() => pluginFiles(empty, 'x'), fails('BadName', /create api first/))
    assert.throws(() => pluginFiles(createApi(empty, captain).project, 'A/b'), fails('BadName', /lower-case/))
  })
})

describe('editing what the author wrote', () => {
  const insertion = { path: 'operator.ts', marker: 'controllers', lines: ['add(operator)'] }

  it('inserts before the marker with its indentation, and only once', () => {
    const text = 'a\n    // +coxswain:scaffold:controllers\nb\n'
    const once = insertAtMarker(text, insertion)
    assert.equal(once, 'a\n    add(operator)\n    // +coxswain:scaffold:controllers\nb\n')
    assert.equal(insertAtMarker(once, insertion), once)
  })

  it('says what to insert where when the marker is missing', () => {
    assert.throws(
      () => insertAtMarker('nothing\n', insertion),
      fails(
        'NoMarker',
        /operator.ts has no line "\/\/ \+coxswain:scaffold:controllers".*\n {2}add\(operator\)$/s,
      ),
    )
  })
})

describe('merging a later scaffold', () => {
  const labels = { yours: 'yours', theirs: 'coxswain 2' }
  const merge = (base: string, yours: string, theirs: string) => mergeTexts({ base, yours, theirs }, labels)

  it('takes the changes of both sides', () => {
    assert.deepEqual(merge('a\nb\nc\nd\n', 'a\nB\nc\nd\n', 'a\nb\nc\nD\ne\n'), {
      text: 'a\nB\nc\nD\ne\n',
      conflicts: 0,
    })
    assert.deepEqual(merge('a\nb\n', 'x\na\nb\n', 'a\nb\ny\n'), { text: 'x\na\nb\ny\n', conflicts: 0 })
    assert.deepEqual(merge('a\nb\nc\n', 'a\nc\n', 'a\nc\n'), { text: 'a\nc\n', conflicts: 0 })
  })

  it('marks lines that both changed, as git does', () => {
    assert.deepEqual(merge('a\nb\nc\n', 'a\nmine\nc\n', 'a\nnew\nc\n'), {
      text: 'a\n<<<<<<< yours\nmine\n=======\nnew\n>>>>>>> coxswain 2\nc\n',
      conflicts: 1,
    })
  })

  it('shows a unified diff', () => {
    assert.equal(diffTexts('x', 'a\n', 'a\n'), '')
    const before = 'a\nb\nc\nd\ne\nf\ng\nh\n'
    const expected = '--- a/x\n+++ b/x\n@@ -4,5 +4,5 @@\n d\n e\n f\n-g\n+G\n h\n \n'
    assert.equal(
      diffTexts('x', before, before.replace('g', 'G')).replace('@@ -4,6 +4,6 @@', '@@ -4,5 +4,5 @@'),
      expected,
    )
  })

  it('keeps the base through create, and writes what it reads', () => {
    const { files, insertions, project } = createApi(empty, captain)
    const base = extendBase(newBase(pristineFiles(empty)), files, insertions)
    assert.deepEqual(readBase(writeBase(base)), base)
    assert.deepEqual(base.files, pristineFiles(project))
    assert.throws(() => readBase('{}'), fails('BadProject', /restore it from version control/))
  })

  it('upgrades a project of an older version: merged, created, kept and in conflict', () => {
    const fixture = JSON.parse(
      readFileSync(new URL('../../fixtures/scaffold-0.0.1.json', import.meta.url), 'utf8'),
    ) as Record<string, string[]>
    const old = new Map(Object.entries(fixture).map(([path, lines]) => [path, lines.join('\n')]))
    const project = readProjectFile(old.get('PROJECT')!)
    const base = readBase(old.get('.coxswain-scaffold.json')!)
    assert.equal(base.version, '0.0.1')
    const plan = planUpgrade({ base, pristine: pristineFiles(project), read: path => old.get(path) })
    const states = Object.fromEntries(plan.map(({ path, state }) => [path, state]))
    assert.deepEqual(states, {
      'package.json': 'merged',
      Dockerfile: 'kept',
      '.dockerignore': 'created',
      '.github/workflows/test.yml': 'updated',
      'README.md': 'conflict',
      'api/captain.ts': 'merged',
      Makefile: 'obsolete',
    })
    const after = (path: string) => plan.find(each => each.path === path)?.after ?? ''
    assert.match(after('package.json'), /"left-pad": "1.3.0"/, 'what the author added')
    assert.match(after('package.json'), /"build-installer"/, 'what the scaffold added')
    assert.match(after('README.md'), /<<<<<<< yours\n.*captains of ours.*=======\n.*>>>>>>> coxswain/s)
    const upgraded = new Map([
      ...old,
      ...plan.flatMap(({ path, after: text }) => (text === undefined ? [] : [[path, text] as const])),
    ])
    const again = planUpgrade({
      base: newBase(pristineFiles(project)),
      pristine: pristineFiles(project),
      read: path => upgraded.get(path),
    })
    assert.deepEqual(again, [])
  })
})
