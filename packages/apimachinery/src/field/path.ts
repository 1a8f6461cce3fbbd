/**
 * The path of a field, in Kubernetes' syntax: `spec.containers[0].env[FOO]`. Paths share their parents and are formatted
 * only when an error needs it, so validators can build them freely.
 */
export class Path {
  readonly #parent: Path | undefined
  readonly #element: string
  readonly #subscript: boolean

  private constructor(parent: Path | undefined, element: string, subscript: boolean) {
    this.#parent = parent
    this.#element = element
    this.#subscript = subscript
  }

  /** The object itself, above every field. It prints as `<nil>`, as upstream's missing path does. */
  static readonly root: Path = new Path(undefined, '', false)

  /** `Path.of('spec', 'replicas')` is `spec.replicas`. */
  static of(...names: readonly string[]): Path {
    return Path.root.child(...names)
  }

  /** A field below this one, several levels at once if several names are given. */
  child(...names: readonly string[]): Path {
    let path: Path = this
    for (const name of names) path = new Path(path, name, name === '')
    return path
  }

  /** An element of this list. */
  index(index: number): Path {
    return new Path(this, String(index), true)
  }

  /** A member of this map, or of a list that is a map by its keys. */
  key(key: string): Path {
    return new Path(this, key, true)
  }

  toString(): string {
    if (this.#parent === undefined) return '<nil>'
    const elements: Path[] = []
    for (let path: Path = this; path.#parent !== undefined; path = path.#parent) elements.push(path)
    let text = ''
    for (let i = elements.length - 1; i >= 0; i--) {
      const path = elements[i]!
      if (path.#subscript) text += `[${path.#element}]`
      else text += text === '' ? path.#element : `.${path.#element}`
    }
    return text
  }
}
