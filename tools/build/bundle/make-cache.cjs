// `node make-cache.cjs FOLDER`: runs the scripts of an executable until the server is ready, and writes what V8 compiled beside them.
const { Buffer } = require('node:buffer')
const { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } = require('node:fs')
const { createRequire } = require('node:module')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const vm = require('node:vm')
const threads = require('node:worker_threads')

const isMain = threads.isMainThread
const { folder, script, data } = isMain
  ? { folder: process.argv[2], script: 'coxswain.js' }
  : threads.workerData
const started = []

/** Threads are run by this file, too. */
class Worker extends threads.Worker {
  constructor(url, options) {
    const name = url.pathname.split('/').pop()
    super(__filename, { ...options, workerData: { folder, script: name, data: options?.workerData } })
    started.push(name)
  }
}

const compile = name =>
  new vm.Script(readFileSync(join(folder, name), 'utf8'), {
    filename: name,
    importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  })
const save = (name, compiled) => writeFileSync(join(folder, `${name}.cache`), compiled.createCachedData())

const required = createRequire(__filename)
const own = name =>
  name === 'node:worker_threads' ? { ...threads, Worker, workerData: data ?? null } : required(name)
Object.assign(own, required)
const compiled = compile(script)
const ready = new threads.BroadcastChannel('ready')
ready.unref()
if (isMain) {
  const late = () => {
    process.stderr.write('the server is not ready after two minutes\n')
    process.exit(1)
  }
  setTimeout(late, 120_000).unref()
  const scratch = mkdtempSync(join(tmpdir(), 'coxswain-cache-'))
  const write = process.stdout.write.bind(process.stdout)
  process.stdout.write = text => {
    if (!Buffer.from(text).includes('ready at')) return write(text)
    save(script, compiled)
    ready.postMessage('save')
    const wait = setInterval(() => {
      if (!started.every(name => existsSync(join(folder, `${name}.cache`)))) return
      clearInterval(wait)
      if (!existsSync(join(folder, 'yaml-worker.js.cache'))) save('yaml-worker.js', compile('yaml-worker.js'))
      rmSync(scratch, { recursive: true, force: true })
      process.exit(0)
    }, 100)
    return true
  }
  process.argv = [process.argv[0], process.argv[1], 'up', '--port', '0', '--data-dir', join(scratch, 'data')]
} else ready.onmessage = () => save(script, compiled)
compiled.runInThisContext()(own, { exports: {} }, __filename)
