import { type CelType, dynType, isDynLike } from './types.ts'

/** Same type by structure; objects and parameters by name. */
export function isExactType(a: CelType, b: CelType): boolean {
  if (a === b) return true
  if (a.kind !== b.kind || a.name !== b.name || a.params.length !== b.params.length) return false
  return a.params.every((p, i) => isExactType(p, b.params[i] as CelType))
}

const nullable: ReadonlySet<string> = new Set(['opaque', 'object', 'duration', 'timestamp'])

/** The bindings of type parameters found so far. A failed attempt leaves no trace. */
export class Substitution {
  readonly #bound = new Map<string, CelType>()
  #trail: { name: string; previous: CelType | undefined }[] = []
  #fresh = 0

  fresh(): CelType {
    return { kind: 'param', name: `_var${this.#fresh++}`, params: [] }
  }

  isAssignable(from: CelType, to: CelType): boolean {
    return this.#settle(this.#assign(from, to))
  }

  isAssignableList(from: readonly CelType[], to: readonly CelType[]): boolean {
    return this.#settle(this.#assignList(from, to))
  }

  #settle(succeeded: boolean): boolean {
    if (this.#trail.length === 0) return succeeded
    const trail = this.#trail
    this.#trail = []
    if (succeeded) return true
    for (const { name, previous } of trail.reverse()) {
      if (previous === undefined) this.#bound.delete(name)
      else this.#bound.set(name, previous)
    }
    return false
  }

  #bind(param: CelType, type: CelType): void {
    this.#trail.push({ name: param.name, previous: this.#bound.get(param.name) })
    this.#bound.set(param.name, type)
  }

  #assign(from: CelType, to: CelType): boolean {
    if (from === to) return true
    if (to.kind === 'param') {
      const answer = this.#substitutes(from, to)
      if (answer !== 'unbound') return answer === 'valid'
    }
    if (from.kind === 'param') return this.#substitutes(to, from) === 'valid'
    if (isDynLike(from) || isDynLike(to)) return true
    if (from.kind === 'null') return to.kind === 'null' || nullable.has(to.kind)
    if (to.kind === 'null') return nullable.has(from.kind)
    if (from.kind !== to.kind) return false
    if (from.kind === 'type') return true
    if (from.name !== to.name) return false
    return this.#assignList(from.params, to.params)
  }

  #assignList(from: readonly CelType[], to: readonly CelType[]): boolean {
    if (from.length !== to.length) return false
    for (let i = 0; i < from.length; i++)
      if (!this.#assign(from[i] as CelType, to[i] as CelType)) return false
    return true
  }

  /** Whether `param` may stand for `type`; `unbound` where it has no binding yet and cannot get this one. */
  #substitutes(type: CelType, param: CelType): 'valid' | 'invalid' | 'unbound' {
    if (isExactType(type, param)) return 'valid'
    const bound = this.#bound.get(param.name)
    if (bound !== undefined) {
      if (isExactType(type, bound)) return 'valid'
      if (!this.#assign(type, bound)) return 'invalid'
      const general = isEqualOrLessSpecific(type, bound) ? type : bound
      if (!this.#occurs(param, general)) this.#bind(param, general)
      return 'valid'
    }
    if (this.#occurs(param, type)) return 'unbound'
    this.#bind(param, type)
    return 'valid'
  }

  #occurs(param: CelType, within: CelType): boolean {
    if (isExactType(param, within)) return true
    if (within.kind === 'param') {
      const bound = this.#bound.get(within.name)
      return bound !== undefined && this.#occurs(param, bound)
    }
    return within.params.some(p => this.#occurs(param, p))
  }

  /** Replaces bound parameters; unbound ones become dyn if `final`. */
  apply(type: CelType, final: boolean): CelType {
    if (type.kind === 'param') {
      const bound = this.#bound.get(type.name)
      if (bound !== undefined) return this.apply(bound, final)
      return final ? dynType : type
    }
    if (type.params.length === 0) return type
    const params = type.params.map(p => this.apply(p, final))
    return params.every((p, i) => p === type.params[i]) ? type : { ...type, params }
  }
}

export function mostGeneral(a: CelType, b: CelType): CelType {
  return isEqualOrLessSpecific(a, b) ? a : b
}

function isEqualOrLessSpecific(a: CelType, b: CelType): boolean {
  if (a.kind === 'dyn' || a.kind === 'param') return true
  if (b.kind === 'dyn' || b.kind === 'param') return false
  if (a.kind !== b.kind) return false
  if (a.kind === 'type') return true
  if (a.name !== b.name || a.params.length !== b.params.length) return false
  return a.params.every((p, i) => isEqualOrLessSpecific(p, b.params[i] as CelType))
}

/** A copy of an overload's types in which its parameters are fresh. */
export function instantiate(types: readonly CelType[], substitution: Substitution): CelType[] {
  const fresh = new Map<string, CelType>()
  const replace = (type: CelType): CelType => {
    if (type.kind === 'param') {
      let found = fresh.get(type.name)
      if (found === undefined) {
        found = substitution.fresh()
        fresh.set(type.name, found)
      }
      return found
    }
    return type.params.length === 0 ? type : { ...type, params: type.params.map(replace) }
  }
  return types.map(replace)
}
