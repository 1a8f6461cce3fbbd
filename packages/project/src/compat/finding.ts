/** A change between two CRDs that clients or stored objects notice. */
export interface CompatFinding {
  /**
   * `error`: what was accepted is rejected, or data is lost. `warning`: it is accepted and means something else. `note`: only people
   * notice.
   */
  readonly severity: 'error' | 'warning' | 'note'
  /** The name of the CRD. */
  readonly definition: string
  /** The version, for changes of its schema. */
  readonly version?: string
  /** The field: `spec.ports[].name` in a version's objects, else in the CRD. Values of maps are `{}`. */
  readonly path: string
  /** What is different, and what breaks. */
  readonly problem: string
  /** What to do instead. */
  readonly remedy: string
}

/** A finding as one line. */
export function formatFinding({
  severity,
  definition,
  version,
  path,
  problem,
  remedy,
}: CompatFinding): string {
  const place = version === undefined ? definition : `${definition} ${version}`
  return `${severity}: ${place}: ${path === '' ? 'the object' : path}: ${problem}. ${remedy}.`
}
