import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { appendFile, chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, beforeEach, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const subject = fileURLToPath(new URL('../bin/module-cache.js', import.meta.url))
const folders: string[] = []

/** A program of three modules, one of them a dependency, that says what they export. */
interface Program {
  readonly folder: string
  readonly start: () => Promise<string>
  readonly cacheFile: () => Promise<string | undefined>
}

async function createProgram(): Promise<Program> {
  const folder = await mkdtemp(join(tmpdir(), 'coxswain-modules-'))
  folders.push(folder)
  const write = async (path: string, text: string) => {
    await mkdir(join(folder, path, '..'), { recursive: true })
    await writeFile(join(folder, path), text)
  }
  await cp(subject, join(folder, 'app/bin/module-cache.js'))
  await write('app/package.json', '{ "type": "module" }')
  await write(
    'app/bin/main.js',
    `import { enableCompileCache } from 'node:module'
     import { useModuleCache } from './module-cache.js'
     enableCompileCache(${JSON.stringify(join(folder, 'cache'))})
     useModuleCache(new URL('..', import.meta.url).href)
     await import('../src/start.ts')`,
  )
  await write(
    'app/src/start.ts',
    `import { greeting } from './greeting.ts'
     import { name } from 'neighbour'
     const text: string = greeting + ' ' + name
     process.stdout.write(text)`,
  )
  await write('app/src/greeting.ts', `export const greeting: string = 'Grüße'\n`)
  const manifest = { name: 'neighbour', type: 'module', exports: './one.js' }
  await write('app/node_modules/neighbour/package.json', JSON.stringify(manifest))
  await write('app/node_modules/neighbour/one.js', `export const name = 'one'\n`)
  await write('app/node_modules/neighbour/two.js', `export const name = 'two'\n`)
  return {
    folder: join(folder, 'app'),
    start: async () => {
      const { stdout, stderr } = await run(process.execPath, [join(folder, 'app/bin/main.js')])
      return stdout + stderr
    },
    cacheFile: async () => {
      const paths = await readdir(join(folder, 'cache'), { recursive: true })
      const found = paths.find(path => path.endsWith('.modules'))
      return found && join(folder, 'cache', found)
    },
  }
}

describe('the module cache', () => {
  let program: Program

  beforeEach(async () => {
    program = await createProgram()
  })
  after(() => Promise.all(folders.map(folder => rm(folder, { recursive: true, force: true }))))

  it('loads modules out of the file that the first start has written', async () => {
    assert.equal(await program.start(), 'Grüße one')
    const file = (await program.cacheFile())!
    const kept = await readFile(file, 'utf8')
    // Same length: what it says about the modules stays true, so that the change shows where they come from.
    await writeFile(file, kept.replace("'one'", "'ONE'"))
    assert.equal(await program.start(), 'Grüße ONE')
  })

  it('sees that a module has changed', async () => {
    await program.start()
    await writeFile(join(program.folder, 'src/greeting.ts'), `export const greeting: string = 'Hello'\n`)
    assert.equal(await program.start(), 'Hello one')
    assert.equal(await program.start(), 'Hello one')
  })

  it('sees that a package exports something else', async () => {
    await program.start()
    const manifest = { name: 'neighbour', type: 'module', exports: './two.js' }
    await writeFile(join(program.folder, 'node_modules/neighbour/package.json'), JSON.stringify(manifest))
    assert.equal(await program.start(), 'Grüße two')
  })

  it('adds modules that an earlier start did not need', async () => {
    await program.start()
    const file = (await program.cacheFile())!
    const before = await readFile(file, 'utf8')
    await writeFile(join(program.folder, 'src/late.ts'), `process.stdout.write(' late')\n`)
    const main = join(program.folder, 'bin/main.js')
    await appendFile(main, `\nawait import('../src/late.ts')`)
    assert.equal(await program.start(), 'Grüße one late')
    const after = await readFile(file, 'utf8')
    assert.ok(!before.includes(' late') && after.includes(' late') && after.includes('Grüße'))
    assert.equal(await program.start(), 'Grüße one late')
  })

  it('leaves alone a file that others may write to', async () => {
    await program.start()
    const file = (await program.cacheFile())!
    await writeFile(file, (await readFile(file, 'utf8')).replace("'one'", "'ONE'"))
    await chmod(file, 0o666)
    assert.equal(await program.start(), 'Grüße one')
  })

  it('does without a file that is damaged', async () => {
    await program.start()
    const file = (await program.cacheFile())!
    await writeFile(file, 'no such thing')
    assert.equal(await program.start(), 'Grüße one')
    assert.equal(await program.start(), 'Grüße one')
  })
})
