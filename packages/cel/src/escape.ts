const reserved: ReadonlySet<string> = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
)

const special: Readonly<Record<string, string>> = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
}

/** The CEL name of a property, or undefined for one that CEL cannot reach. */
export function escapeName(property: string): string | undefined {
  if (property === '' || /^[0-9]/.test(property)) return undefined
  if (reserved.has(property)) return `__${property}__`
  if (/[^a-zA-Z0-9_.\-/]/.test(property)) return undefined
  return property.replace(/__|[-./]/g, found => special[found] ?? found)
}
