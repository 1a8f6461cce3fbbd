import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { decodeText } from '@coxswain/kit'

/** The newest version of each object that a process was shown, by uid. */
export class SeenVersions {
  readonly #lines: Uint8Array[] = []
  readonly #versions = new Map<string, number>()

  note(object: JsonObject | undefined): void {
    if (!object || !isObject(object.metadata)) return
    const { uid, resourceVersion } = object.metadata as JsonObject
    if (typeof uid === 'string') this.#set(uid, Number(resourceVersion))
  }

  /** A watch event, an object or a list. It is read only when it is asked for. */
  noteLine(bytes: Uint8Array): void {
    this.#lines.push(bytes)
  }

  hasSeen({ metadata }: JsonObject): boolean {
    for (const bytes of this.#lines.splice(0)) this.#readLine(bytes)
    const { uid, resourceVersion } = (metadata ?? {}) as JsonObject
    return (this.#versions.get(String(uid)) ?? 0) >= Number(resourceVersion)
  }

  #readLine(bytes: Uint8Array): void {
    let value: unknown
    try {
      value = JSON.parse(decodeText(bytes))
    } catch {
      return // not JSON: nothing that it could have learnt from
    }
    const { object, items } = (isObject(value) ? value : {}) as { object?: JsonObject; items?: JsonObject[] }
    for (const each of items ?? [object ?? (value as JsonObject)]) this.note(each)
  }

  #set(uid: string, version: number): void {
    this.#versions.set(uid, Math.max(version, this.#versions.get(uid) ?? 0))
  }
}
