// What the one-file executable runs first, in the main thread and in every other: a script of its assets, compiled already.
const { Buffer } = require('node:buffer')
const { createRequire } = require('node:module')
const { getAsset, getRawAsset } = require('node:sea')
const vm = require('node:vm')
const threads = require('node:worker_threads')

const loader = getAsset('loader.cjs', 'utf8')

/** Threads are scripts of the assets, too. */
class Worker extends threads.Worker {
  constructor(url, options) {
    const name = url.pathname.split('/').pop()
    super(loader, { ...options, eval: true, workerData: { script: name, data: options?.workerData } })
  }
}

const isMain = threads.isMainThread
const script = isMain ? 'coxswain.js' : threads.workerData.script
const workerThreads = { ...threads, Worker, workerData: isMain ? null : threads.workerData.data }
const required = createRequire(process.execPath)
const own = name => (name === 'node:worker_threads' ? workerThreads : required(name))
Object.assign(own, required)
new vm.Script(getAsset(script, 'utf8'), {
  filename: script,
  cachedData: Buffer.from(getRawAsset(`${script}.cache`)),
  importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
}).runInThisContext()(own, { exports: {} }, process.execPath)
