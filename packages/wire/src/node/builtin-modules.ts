/**
 * Modules of Node that are loaded when they are used: programs that import the client and send nothing, such as most commands, do not pay for
 * them (TLS and HTTP/2: 30 ms of processor time). `node:http` is never imported: its WebSocket exports are getters that an
 * import evaluates, and with them all of undici, 40 ms and 6 MB (Node 26; measure with `await import('node:http')` in an empty program).
 */
export const builtin = {
  get crypto(): typeof import('node:crypto') {
    return process.getBuiltinModule('node:crypto')
  },
  get http(): typeof import('node:http') {
    return process.getBuiltinModule('node:http')
  },
  get https(): typeof import('node:https') {
    return process.getBuiltinModule('node:https')
  },
  get tls(): typeof import('node:tls') {
    return process.getBuiltinModule('node:tls')
  },
}
