/** Words that cannot be names of variables. */
const reserved = new Set(
  'abstract any arguments as asserts async await boolean break case catch class const constructor continue debugger declare default delete do else enum eval export extends false finally for from function get if implements import in infer instanceof interface is keyof let module namespace never new null number object of package private protected public readonly require return set static string super switch symbol this throw true try type typeof undefined unique unknown var void while with yield'.split(
    ' ',
  ),
)

/** Identifiers that mean something else as the name of a member. */
const special = new Set(['__proto__', 'constructor', 'new'])

/** A property name as source: quoted where it is not an identifier. */
export function printKey(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) && !special.has(name) ? name : printString(name)
}

/** A string literal in single quotes. */
export function printString(text: string): string {
  const quoted = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")
  return `'${quoted.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')}'`
}

/** The words of a name as one, each with a capital: `private-key` is `PrivateKey`. */
export function pascalCase(name: string): string {
  const words = name.split(/[^A-Za-z0-9]+/).filter(word => word !== '')
  const joined = words.map(word => `${word[0]!.toUpperCase()}${word.slice(1)}`).join('')
  return /^[A-Za-z]/.test(joined) ? joined : `_${joined}`
}

/** A variable that no reserved word and no type clashes with. */
export function camelCase(name: string): string {
  const pascal = pascalCase(name)
  const camel = `${pascal[0]!.toLowerCase()}${pascal.slice(1)}`
  return reserved.has(camel) ? `${camel}_` : camel
}

/** Hands out names that are not taken yet: `Name`, then `Name2`. */
export class Names {
  readonly #taken = new Map<string, number>()

  take(name: string): string {
    for (let count = this.#taken.get(name) ?? 1; ; count++) {
      const free = count === 1 ? name : `${name}${count}`
      this.#taken.set(name, count + 1)
      if (free === name || !this.#taken.has(free)) {
        if (free !== name) this.#taken.set(free, 2)
        return free
      }
    }
  }
}
