/** The messages of name validation. Upstream counts characters in its older half and bytes in its newer one. */
export function maxLenError(length: number): string {
  return `must be no more than ${length} characters`
}

export function maxBytesError(length: number): string {
  return `must be no more than ${length} bytes`
}

export const emptyError: string = 'must be non-empty'

export function inclusiveRangeError(low: number, high: number): string {
  return `must be between ${low} and ${high}, inclusive`
}

/** What a value must look like, with examples and the exact pattern. */
export function regexError(message: string, pattern: string, ...examples: readonly string[]): string {
  const shown = examples.map(example => `'${example}', `).join(' or ')
  return `${message} (${examples.length > 0 ? `e.g. ${shown}` : ''}regex used for validation is '${pattern}')`
}
