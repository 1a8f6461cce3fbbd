/** The test files that `npm test` runs: everything that needs only Node. */
export const testFiles: readonly string[] = [
  'packages/*/{src,type-tests}/**/*.test.ts',
  'tools/**/*.test.{ts,js}',
  'examples/**/*.test.ts',
  'bench/**/*.test.ts',
]
