import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import type { VolumeMountSpec } from '../container-runtime.ts'
import { buildContainerRoot, writeMountTable } from './container-root.ts'

const base = mkdtempSync(join(tmpdir(), 'container root-'))
after(() => rmSync(base, { recursive: true, force: true }))
const missing = `missing-${process.pid}`
let count = 0

/** The mounts of a container that has these volumes; each is a directory of its own. */
function build(...mounts: (Partial<VolumeMountSpec> & { readonly mountPath: string })[]) {
  const directory = join(base, String(count++))
  const volumePath = (volume: string) => join(directory, 'volumes', volume)
  for (const { volume = 'v' } of mounts) mkdirSync(volumePath(volume), { recursive: true })
  mkdirSync(directory, { recursive: true })
  const source = join(directory, 'log')
  writeFileSync(source, '')
  const binds = buildContainerRoot({
    directory,
    container: 'c',
    mounts: mounts.map(mount => ({ volume: 'v', readOnly: false, ...mount })),
    files: new Map([['/etc/hosts', source]]),
    terminationLog: { path: '/dev/termination-log', source },
    workingDir: '/',
    sharesProcesses: false,
    volumePath,
  })
  const targets = new Map(binds.map(bind => [bind.target, bind]))
  return { directory, binds, targets, volumePath }
}

describe('the root of a container', () => {
  it("has the machine's files, and mount points that the machine lacks without creating them on it", () => {
    const { targets, volumePath, directory } = build({ mountPath: `/${missing}/deep` })
    assert.equal(targets.get('/usr')?.source, '/usr')
    assert.equal(targets.get(`/${missing}/deep`)?.source, volumePath('v'))
    assert.equal(existsSync(`/${missing}`), false)
    assert.ok(existsSync(join(directory, 'root', missing, 'deep')), 'the mount point is in its own root')
  })

  it('replaces the directory in which a mount point is missing, and keeps its content', () => {
    const { targets, directory } = build(
      { mountPath: `/usr/${missing}` },
      { mountPath: '/usr/lib', volume: 'w' },
    )
    const own = targets.get('/usr')?.source ?? ''
    assert.ok(own.startsWith(directory))
    for (const name of readdirSync('/usr')) assert.ok(existsSync(join(own, name)), name)
    assert.equal(targets.get('/usr/bin')?.source, '/usr/bin')
    assert.equal(targets.get('/usr/lib')?.source, join(directory, 'volumes', 'w'), 'whatever came first')
    assert.equal(existsSync(`/usr/${missing}`), false)
  })

  it('mounts outer paths before inner ones, and inner ones within the volume around them', () => {
    const { binds, volumePath } = build(
      { mountPath: '/data/inner/deep', volume: 'inner' },
      { mountPath: '/data', volume: 'outer' },
    )
    const order = binds.map(({ target }) => target).filter(target => target.startsWith('/data'))
    assert.deepEqual(order, ['/data', '/data/inner/deep'])
    assert.ok(existsSync(join(volumePath('outer'), 'inner/deep')))
  })

  it('refuses a volume at /, and a directory where the machine has a file', () => {
    assert.throws(() => build({ mountPath: '/' }), /cannot be mounted at \//)
    assert.throws(() => build({ mountPath: '/etc/passwd' }), /\/etc\/passwd is not a directory/)
    assert.throws(() => build({ mountPath: '/etc/passwd/x' }), /\/etc\/passwd is not a directory/)
  })

  it("is an fstab in which only the machine's own paths may be missing", () => {
    const { directory, binds } = build({ mountPath: '/with space', readOnly: true })
    const file = join(directory, 'mounts')
    writeMountTable(file, join(directory, 'root'), binds)
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
    assert.equal(lines.length, binds.length)
    for (const line of lines) assert.equal(line.split(' ').length, 6, line)
    const line = lines.find(text => text.includes('with\\040space')) ?? ''
    assert.match(line, / none bind,ro\S* 0 0$/)
    assert.doesNotMatch(line, /nofail/)
    assert.match(lines.find(text => text.startsWith('/usr ')) ?? '', /rbind,nofail/)
  })
})
