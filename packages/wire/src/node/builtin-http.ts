/**
 * `node:http`, without the cost of an `import`: its WebSocket exports are getters that an import evaluates,
 * and with them all of undici, 40 ms and 6 MB (Node 26; measure with `await import('node:http')` in an empty program).
 */
export const http: typeof import('node:http') = process.getBuiltinModule('node:http')
