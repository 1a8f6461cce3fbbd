import assert from 'node:assert/strict'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { goEnvironment } from '../../tools/components/go-program.ts'
import { componentPath } from '../../tools/components/index.ts'
import { run, runOrFail } from '../../tools/components/process.ts'
import { type Assets, openAssets } from './assets.ts'
import { report } from './report.ts'

describe('a project that kubebuilder made', () => {
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-kubebuilder-'))
  const env = goEnvironment()
  let assets: Assets

  before(async () => {
    assets = await openAssets()
    const kubebuilder = (...args: string[]) =>
      runOrFail(componentPath('kubebuilder-4'), args, { cwd: folder, env })
    // Its steps call make, which builds controller-gen: the component is the same program.
    mkdirSync(join(folder, 'bin'))
    await kubebuilder(
      'init',
      '--domain',
      'example.com',
      '--repo',
      'example.com/guestbook',
      '--skip-go-version-check',
    )
    const makefile = readFileSync(join(folder, 'Makefile'), 'utf8')
    const [, version = ''] = /^CONTROLLER_TOOLS_VERSION \?= (\S+)$/m.exec(makefile) ?? []
    // A copy: where make does not find its version it installs one, over whatever a link leads to.
    const controllerGen = join(folder, 'bin', `controller-gen-${version}`)
    copyFileSync(componentPath('controller-gen'), controllerGen)
    symlinkSync(controllerGen, join(folder, 'bin/controller-gen'))
    writeFileSync(join(folder, 'Makefile'), makefile.replace(/^setup-envtest: envtest/m, 'setup-envtest:'))
    const api = ['--group', 'apps', '--version', 'v1', '--kind', 'Guestbook']
    await kubebuilder('create', 'api', ...api, '--resource', '--controller', '--make=false')
    await kubebuilder(
      'create',
      'webhook',
      ...api,
      '--defaulting',
      '--programmatic-validation',
      '--make=false',
    )
    await runOrFail('go', ['mod', 'tidy'], { cwd: folder, env })
  })
  after(() => {
    assets[Symbol.dispose]()
    rmSync(folder, { recursive: true, force: true })
  })

  it('passes its make test', async () => {
    const started = performance.now()
    const envtest = `ENVTEST=${join(assets.path, 'setup-envtest')}`
    const { code, stdout, stderr } = await run('make', ['test', envtest], { cwd: folder, env })
    const results = stdout.split('\n').filter(line => line.startsWith('ok '))
    report(`make test in ${((performance.now() - started) / 1000).toFixed(0)} s: ${results.join('; ')}`)
    assert.equal(code, 0, `${stdout}\n${stderr}`.slice(-8000))
    assert.equal(results.length, 2, stdout)
  })
})
