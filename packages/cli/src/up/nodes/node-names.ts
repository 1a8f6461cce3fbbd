/** As the agent calls its nodes. */
export function nodeNamesOf(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `node-${index + 1}`)
}
