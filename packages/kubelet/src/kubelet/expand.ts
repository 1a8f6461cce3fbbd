/**
 * Expands variables: `$(NAME)` is the variable's value, or stays as it is when unset; `$$` is `$`.
 */
export function expand(text: string, lookUp: (name: string) => string | undefined): string {
  let result = ''
  for (let at = 0; at < text.length; at++) {
    if (text[at] !== '$' || at + 1 === text.length) {
      result += text[at]
      continue
    }
    at++
    if (text[at] === '$') {
      result += '$'
      continue
    }
    const end = text[at] === '(' ? text.indexOf(')', at) : -1
    if (end === -1) {
      result += `$${text[at]}`
      continue
    }
    const name = text.slice(at + 1, end)
    result += lookUp(name) ?? `$(${name})`
    at = end
  }
  return result
}
