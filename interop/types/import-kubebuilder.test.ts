import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { type AnyDefinedKind, toCustomResourceDefinition } from '@coxswain/apimachinery/kinds'
import { readYamlDocuments } from '@coxswain/apimachinery/yaml'
import { comparableDefinition, readDefinition } from '@coxswain/project/definitions'
import { ensureComponent } from '../../tools/components/index.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const fields = `
	// +kubebuilder:validation:Enum=Small;Large
	// +kubebuilder:default=Small
	Size string \`json:"size,omitempty"\`
	// +kubebuilder:validation:Minimum=1
	Crew *int32 \`json:"crew,omitempty"\`
	Guns []string \`json:"guns,omitempty"\`
	// +listType=map
	// +listMapKey=name
	Decks []Deck \`json:"decks,omitempty"\`
	Limit *metav1.LabelSelector \`json:"limit,omitempty"\`
	Since metav1.Time \`json:"since,omitempty"\`
	Labels map[string]string \`json:"labels,omitempty"\`
	Weight int \`json:"weight,omitempty"\`
}

// Deck is one of several.
type Deck struct {
	Name string \`json:"name"\`
	Height int64 \`json:"height,omitempty"\`
`

let project: string
/** In the repository, so that the compiler and Node find the packages. */
let twin: string

function run(command: string, args: readonly string[], cwd: string): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, GOFLAGS: '-mod=mod' },
  })
  assert.equal(status, 0, `${command} ${args.join(' ')}: ${stdout}${stderr}${error?.message ?? ''}`)
  return stdout
}

before(async () => {
  project = mkdtempSync(join(tmpdir(), 'coxswain-kubebuilder-'))
  twin = mkdtempSync(join(root, 'interop/types/generated-'))
  const kubebuilder = await ensureComponent('kubebuilder-4')
  const controllerGen = await ensureComponent('controller-gen')
  const make = (...args: string[]) => run(kubebuilder, args, project)
  const api = (version: string, kind: string, ...more: string[]) =>
    make(
      'create',
      'api',
      '--group=ship',
      `--version=${version}`,
      `--kind=${kind}`,
      '--resource',
      '--make=false',
      ...more,
    )
  make(
    'init',
    '--domain=example.com',
    '--repo=example.com/guest',
    '--project-name=guest',
    '--skip-go-version-check',
  )
  api('v1beta1', 'Frigate', '--controller')
  api('v1', 'Frigate', '--controller=false')
  api('v1', 'Cruiser', '--controller', '--namespaced=false')
  const webhook = (kind: string, ...more: string[]) =>
    make('create', 'webhook', '--group=ship', '--version=v1', `--kind=${kind}`, '--make=false', ...more)
  webhook('Frigate', '--conversion', '--spoke=v1beta1')
  webhook('Cruiser', '--defaulting', '--programmatic-validation')
  const types = join(project, 'api/v1/cruiser_types.go')
  writeFileSync(types, readFileSync(types, 'utf8').replace(/(\tFoo \*string .*\n)/, `$1${fields}`))
  const crds = 'output:crd:artifacts:config=config/crd/bases'
  run(controllerGen, ['rbac:roleName=manager-role', 'crd', 'webhook', 'paths=./...', crds], project)
  run(
    process.execPath,
    [join(root, 'packages/coxswain/bin/coxswain.js'), 'import', 'kubebuilder', project, '--out', twin],
    root,
  )
})
after(() => {
  for (const folder of [project, twin]) rmSync(folder, { recursive: true, force: true })
})

describe('a project of kubebuilder', () => {
  it('has kinds that generate the same definitions', async () => {
    const files = globSync('config/crd/bases/*.yaml', { cwd: project })
    assert.equal(files.length, 2)
    for (const file of files) {
      const crd = readDefinition(readYamlDocuments(readFileSync(join(project, file)))[0]!.value)
      const { kind } = crd.spec.names
      const module = await import(pathToFileURL(join(twin, `api/${kind.toLowerCase()}.ts`)).href)
      const made = toCustomResourceDefinition(module[kind] as AnyDefinedKind)
      assert.deepEqual(
        comparableDefinition(made),
        comparableDefinition({ ...crd, metadata: { name: crd.metadata.name } }),
      )
    }
  })

  it('has an operator with its controllers, webhooks and rights, and compiles', async () => {
    const operator = readFileSync(join(twin, 'operator.ts'), 'utf8')
    for (const part of [
      'addFrigateController',
      'addCruiserController',
      'addFrigateWebhooks',
      'addCruiserWebhooks',
    ])
      assert.match(operator, new RegExp(`  ${part}\\(operator\\)\n`))
    const controller = readFileSync(join(twin, 'controllers/frigate.ts'), 'utf8')
    assert.match(
      controller,
      /\.rbac\(Frigate\.v1, \['get', 'patch', 'update'\], \{ subresource: 'status' \}\)/,
    )
    assert.match(readFileSync(join(twin, 'webhooks/frigate.ts'), 'utf8'), /\.convert\(Frigate\.v1beta1, /)
    assert.ok((await import(pathToFileURL(join(twin, 'operator.ts')).href)).default)
    const options = {
      extends: '../../../tsconfig.base.json',
      compilerOptions: { noEmit: true },
      include: ['**/*.ts'],
    }
    writeFileSync(join(twin, 'tsconfig.json'), JSON.stringify(options))
    assert.equal(run(join(root, 'node_modules/.bin/tsc'), ['-p', twin], root), '')
  })
})
