import { writeJson } from '@coxswain/apimachinery/json'
import type { Names } from './case.ts'

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
const time = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)/g
const jwt = /eyJ[\w-]+\.[\w-]+\.[\w-]+/g
const ip = /^(\d+\.\d+\.\d+\.\d+|[0-9a-f:]*:[0-9a-f:]+)$/
const serviceIp = /\b10\.(?:0|111|112)\.\d+\.\d+\b(?!\/)/g
const port = /((?:nodeports?\W{1,5}|nodePort: (?:Invalid|Duplicate) value: ))(3[0-2]\d{3})\b/gi
const shownPort = /(?<=:)3[0-2]\d{3}(?=\/(?:TCP|UDP|SCTP))/g
const access = /kube-api-access-[a-z0-9]{5}/g
const age = /^(<unknown>|<invalid>|(\d+[ydhms])+)$/
const random = '[bcdfghjklmnpqrstvwxz2456789]{5}'

type Json = Record<string, unknown>

/** What a mask needs to know of a recording. */
export interface Masked {
  /** The requests: values from there are kept. */
  readonly said: unknown
  readonly keep?: readonly string[] | undefined
}

/** Replaces what differs from run to run: ids, times, versions, allocations, the namespace. */
export class Mask {
  /** What the case itself says: values from there are kept. */
  readonly #text: string
  readonly #names: Names
  readonly #user: string | undefined
  readonly #keep: readonly string[]
  readonly #generated: readonly string[]
  /** Values that steps have saved, by name. */
  protected readonly saved: readonly (readonly [string, string])[]

  constructor(golden: Masked, names: Names, user: string | undefined) {
    this.#text = writeJson(golden.said)
    this.#names = names
    this.#user = user
    this.#keep = golden.keep ?? []
    const prefixes = this.#text.matchAll(/generateName\\?": ?\\?"([^"\\]*)/g)
    this.#generated = [...new Set([...prefixes].map(match => match[1]!))].filter(Boolean)
    this.saved = Object.entries(names).filter(([name]) => name !== 'ns')
  }

  text(given: string, message = false): string {
    let text = given
    for (const [name, value] of this.saved)
      if (value.length >= 16) text = text.replaceAll(value, `{{${name}}}`)
    text = text.replaceAll(this.#names.ns!, '{{ns}}')
    if (this.#user) text = text.replaceAll(this.#user, '<user>')
    for (const prefix of this.#generated) {
      const start = prefix.replaceAll(this.#names.ns!, '{{ns}}')
      text = text.replace(new RegExp(escapeRegExp(start) + random, 'g'), () => `${start}<random>`)
    }
    text = this.#replace(text, access, 'kube-api-access-<random>')
    if (text.length >= 20) {
      text = this.#replace(text, uuid, '<uid>')
      text = this.#replace(text, time, '<time>')
      text = text.replace(jwt, '<token>')
    }
    return message ? this.#message(text) : text
  }

  #message(given: string): string {
    let text = given
    for (const [name, value] of this.saved) {
      if (/^\d+$/.test(value)) text = text.replace(new RegExp(`(?<!\\d)${value}(?!\\d)`, 'g'), `{{${name}}}`)
    }
    text = text.replace(/((?:current|RV|version|meta): )\d+/g, '$1<rv>')
    text = text.replace(/too old resource version: \d+ \(\d+\)/g, 'too old resource version: <rv> (<rv>)')
    text = this.#replace(text, serviceIp, '<ip>')
    return text.replace(port, (whole, head: string, number: string) =>
      this.#text.includes(number) ? whole : `${head}<port>`,
    )
  }

  #replace(text: string, pattern: RegExp, mask: string): string {
    return text.replace(pattern, found => (this.#text.includes(found) ? found : mask))
  }

  /** A body that is not JSON. */
  plain(text: string): string {
    return this.text(text).replace(/("?resourceVersion"?: ?)"\d+"/g, '$1"<rv>"')
  }

  value(value: unknown, key = '', ofList = false): unknown {
    if (typeof value === 'string') return this.#string(value, key, ofList)
    if (typeof value === 'number') {
      const isPort = (key === 'nodePort' || key === 'healthCheckNodePort') && value > 0
      return isPort && !this.#text.includes(String(value)) ? '<port>' : value
    }
    if (Array.isArray(value)) return value.map(item => this.value(item, key))
    return typeof value === 'object' && value !== null ? this.#object(value as Json) : value
  }

  #string(value: string, key: string, ofList: boolean): unknown {
    if (
      key === 'resourceVersion' &&
      /^\d+$/.test(value) &&
      (!this.#text.includes(`"${value}"`) || value !== '0')
    ) {
      return this.version(value, ofList)
    }
    if (key === 'continue' && value !== '') {
      return this.saved.some(([, saved]) => saved === value) ? this.text(value) : '<continue>'
    }
    if ((key === 'clusterIP' || key === 'clusterIPs') && ip.test(value) && !this.#text.includes(value))
      return '<ip>'
    return this.text(value, key === 'message')
  }

  /** The name of the write, or of the list, that gave a version. */
  protected version(value: string, ofList: boolean): string {
    if (this.#keep.includes('nostatus')) return '<rv>'
    const found = this.saved.find(([name, saved]) => saved === value && name.startsWith('list') === ofList)
    return found ? `{{${found[0]}}}` : '<rv>'
  }

  #object(given: Json): Json {
    const isTable = given.kind === 'Table'
    const isList = Array.isArray(given.items) || isTable
    const object = this.#user !== undefined && given.username === this.#user ? maskUser(given) : given
    const out: Json = {}
    for (const [key, value] of Object.entries(object)) {
      if (key === 'managedFields' && !this.#keep.includes('managedFields')) continue
      if (key === 'status' && this.#keep.includes('nostatus')) continue
      out[this.text(key)] = this.#member(object, key, value, { isTable, isList })
    }
    if (this.#keep.includes('noconditions') && isObject(out.status)) delete out.status.conditions
    return out
  }

  #member(parent: Json, key: string, value: unknown, form: { isTable: boolean; isList: boolean }): unknown {
    if (key === 'metadata' && form.isList && isObject(value)) {
      return Object.fromEntries(
        Object.entries(value).map(([name, item]) => [name, this.value(item, name, true)]),
      )
    }
    if (key === 'lastAppliedTime') return '<time>'
    if (key === 'columnDefinitions' && form.isTable && Array.isArray(value)) {
      return value.map(({ description: _, ...column }: Json) => column)
    }
    if (key === 'rows' && form.isTable && Array.isArray(value))
      return value.map(row => this.#row(row as Json))
    if (
      (key === 'resourceRules' || key === 'nonResourceRules') &&
      'incomplete' in parent &&
      Array.isArray(value)
    ) {
      return [...value].sort((a, b) => compareText(JSON.stringify(a), JSON.stringify(b)))
    }
    const masked = this.value(value, key)
    if (key === 'finalizers' && Array.isArray(masked)) return sortFinalizers(masked)
    return key === 'managedFields' && Array.isArray(masked) ? this.#sortManagers(masked as Json[]) : masked
  }

  #sortManagers(entries: readonly Json[]): Json[] {
    const kept = this.#keep.includes('nostatus')
      ? entries.filter(entry => entry.subresource !== 'status')
      : entries
    const order = (entry: Json) =>
      ['manager', 'operation', 'apiVersion', 'subresource']
        .map(name => String(entry[name] ?? 'None'))
        .join('\0')
    return [...kept].sort((a, b) => compareText(order(a), order(b)))
  }

  #row(row: Json): Json {
    const masked = this.value(row) as Json
    const cells = (masked.cells ?? []) as unknown[]
    return { ...masked, cells: cells.map(cell => this.#cell(cell)) }
  }

  #cell(cell: unknown): unknown {
    if (typeof cell !== 'string') return cell
    if (age.test(cell)) return '<age>'
    return this.#replace(this.#replace(cell, serviceIp, '<ip>'), shownPort, '<port>')
  }
}

function maskUser(object: Json): Json {
  const kept = Object.entries(object).filter(([key]) => key !== 'uid' && key !== 'extra')
  return Object.fromEntries(kept.map(([key, value]) => [key, key === 'groups' ? '<groups>' : value]))
}

/** Finalizers that the server adds on a delete come in no fixed order. */
function sortFinalizers(finalizers: unknown[]): unknown[] {
  const isAdded = finalizers.includes('foregroundDeletion') || finalizers.includes('orphan')
  return isAdded ? [...finalizers].sort() : finalizers
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}

const compareText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
