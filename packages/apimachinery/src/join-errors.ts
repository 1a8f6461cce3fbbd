/** Several errors as upstream's aggregate prints them: each text once, in brackets when there is more than one. */
export function joinErrors(errors: Iterable<string>): string {
  const texts = [...new Set(errors)]
  return texts.length > 1 ? `[${texts.join(', ')}]` : (texts[0] ?? '')
}
