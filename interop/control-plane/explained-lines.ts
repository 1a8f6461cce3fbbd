/** Lines of the real programs' logs that begin with E or W and are no complaint about the server, each with its reason. */
const explainedLines: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [/The manifest file is empty, ignoring/, 'written whenever no manifest of metric labels is given'],
  [
    /read version: \d+ is not as new as written version/,
    'its cache is behind its own write; it looks again at once',
  ],
  [/the object has been modified; please apply your changes/, 'the same, found out by the server'],
  [/replicasets\.apps .* not found/, 'the set was deleted while it was looked at'],
  [/exceeded quota: small/, 'what the test is about'],
  [/failed to get cpu resource metric value/, 'there are no metrics until the test makes some'],
  [/Flexvolume plugin directory at .* does not exist/, 'about a folder of this machine, which it makes'],
]

/** The E and W lines that nothing explains, without the time and the process. */
export function unexplained(log: readonly string[]): string[] {
  return log
    .filter(line => /^[EWF]\d{4} /.test(line))
    .filter(line => !explainedLines.some(([pattern]) => pattern.test(line)))
    .map(line => line.replace(/^(.)\d{4} \S+ +\d+ /, '$1 '))
}
