/** The kubelet's names of its nodes. */
export function nodeNamesOf(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `node-${index + 1}`)
}
