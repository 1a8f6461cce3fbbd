/**
 * Loaded before a test file that runs under `--test-force-exit`: when all tests are done the runner asks to exit, and
 * whatever would still keep the process alive a little later is a leak, which fails the file.
 */
const grace = 1_000
const poll = 10

/** The runner's own: standard streams and files in flight at the end of the process. */
const innocent = new Set(['TTYWrap', 'PipeWrap', 'FSReqCallback', 'FSReqPromise', 'Immediate', 'CloseReq'])

const exit = process.exit
let asked = false

process.exit = (code?: number | string | null): never => {
  if (asked) return exit(code)
  asked = true
  const deadline = performance.now() + grace
  const look = () => {
    const leaks = process.getActiveResourcesInfo().filter(name => !innocent.has(name))
    if (leaks.length === 0) return exit(code)
    if (performance.now() < deadline) return void setTimeout(look, poll).unref()
    process.stderr.write(`leaked handles keep the process alive: ${leaks.join(', ')}\n`)
    exit(1)
  }
  setImmediate(look)
  return undefined as never
}
