import { isIP } from 'node:net'
import { InvalidArgumentError } from 'commander'

/** Parsers of the values of flags, environment variables and the configuration file. */

export function readBoolean(text: string): boolean {
  if (/^(1|t|true)$/i.test(text)) return true
  if (/^(0|f|false)$/i.test(text)) return false
  throw new InvalidArgumentError('must be true or false.')
}

export function readPort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text)
  throw new InvalidArgumentError('must be a port from 0 to 65535.')
}

/** Validated here, parsed where it is used: `--help` does not load the parser. */
export function readDuration(text: string): string {
  if (/^(\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+$/.test(text)) return text
  throw new InvalidArgumentError('must be a duration such as 15s or 1m30s.')
}

/** `0`, `:8443`, `127.0.0.1:8443`, `[::1]:8443`. */
export function readBindAddress(text: string): string {
  const [, host = '', port = ''] = /^(.*):(\d{1,5})$/.exec(text) ?? []
  const isHost =
    host === '' || /^[\w.-]+$/.test(host) || (/^\[.*\]$/.test(host) && isIP(host.slice(1, -1)) === 6)
  if (text === '0' || (port !== '' && isHost && Number(port) <= 65_535)) return text
  throw new InvalidArgumentError('must be an address such as :8443 or 127.0.0.1:8443, or 0 to disable it.')
}

export function readNumber(text: string): number {
  const value = Number(text)
  if (/^\d+(\.\d+)?$/.test(text) && value > 0 && value <= 1e6) return value
  throw new InvalidArgumentError('must be a number greater than 0.')
}

export function readNamespaces(text: string, before: readonly string[] = []): string[] {
  const names = text
    .split(',')
    .map(name => name.trim())
    .filter(name => name !== '')
  const invalid = names.find(name => !/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name))
  if (invalid !== undefined) throw new InvalidArgumentError(`"${invalid}" is not the name of a namespace.`)
  if (names.length > 0) return [...before, ...names]
  throw new InvalidArgumentError('must have at least one name.')
}

const mostWorkers = 10_000

/** `CONTROLLER=N`, several with commas. */
export function readConcurrency(
  text: string,
  before: Readonly<Record<string, number>> = {},
): Record<string, number> {
  const read = text.split(',').map((pair): [string, number] => {
    const [, name = '', count = ''] = /^\s*([^=\s]+)=(\d+)\s*$/.exec(pair) ?? []
    if (name !== '' && Number(count) > 0 && Number(count) <= mostWorkers) return [name, Number(count)]
    throw new InvalidArgumentError(`must be CONTROLLER=N, with N from 1 to ${mostWorkers}.`)
  })
  return { ...before, ...Object.fromEntries(read) }
}

export function readService(text: string): string {
  if (/^[^/]+\/[^/]+$/.test(text)) return text
  throw new InvalidArgumentError('must be NAMESPACE/NAME.')
}

export function readOneOf<T extends string>(choices: readonly T[]): (text: string) => T {
  return text => {
    const found = choices.find(choice => choice === text)
    if (found !== undefined) return found
    throw new InvalidArgumentError(`Allowed choices are ${choices.join(', ')}.`)
  }
}

/** A text that is not empty. */
export function readText(text: string): string {
  if (text.trim() !== '') return text
  throw new InvalidArgumentError('must not be empty.')
}
