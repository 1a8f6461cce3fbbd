import type { Command, Option } from 'commander'
import { CommandError } from '../exit.ts'
import { isLoopback, isUnspecified } from '../up/options/serving-options.ts'
import { fixedFlags, isBooleanFlag, kubeApiserverFlags } from './kube-apiserver-flags.ts'

/** The command line of kube-apiserver, in terms of `coxswain up`. */
export interface Translation {
  /** Flags that both have, as `--name=value`, without those that are decided elsewhere. */
  readonly shared: readonly string[]
  /** Flags without effect here, each once. */
  readonly ignored: readonly string[]
  /** The last value of every flag that was given. */
  readonly given: ReadonlyMap<string, string>
}

/** Flags whose values `runApiserver` turns into others. */
const decidedElsewhere = new Set(['cert-dir', 'etcd-servers', 'tls-cert-file', 'tls-private-key-file'])

/**
 * Reads flags as kube-apiserver does: `--name=value`, `--name value`, `--boolean`, underscores for dashes. Throws for flags that it does
 * not have, and for values that would change the answers of this server and cannot.
 */
export function translate(args: readonly string[], up: Command): Translation {
  const options = new Map(up.options.map(option => [option.long?.slice(2) ?? '', option]))
  const shared: string[] = []
  const ignored = new Set<string>()
  const given = new Map<string, string>()
  for (let at = 0; at < args.length; at++) {
    const [name, attached] = split(args[at]!)
    if (!kubeApiserverFlags.has(name)) throw new CommandError(`unknown flag: --${name}`)
    const option = options.get(name)
    const isBoolean = option ? takesNoArgument(option) : isBooleanFlag(name)
    const value = attached ?? (isBoolean ? 'true' : args[++at])
    if (value === undefined) throw new CommandError(`flag needs an argument: --${name}`)
    given.set(name, value)
    if (!option) {
      if (fixedFlags[name]) checkValue(name, value, fixedFlags[name])
      else ignored.add(name)
    } else if (name === 'advertise-address' && (isLoopback(value) || isUnspecified(value))) ignored.add(name)
    else if (!decidedElsewhere.has(name)) {
      if (!option.isBoolean()) shared.push(`--${name}=${value}`)
      else if (value === 'true') shared.push(`--${name}`)
    }
  }
  return { shared, ignored: [...ignored], given }
}

/** To kube-apiserver, booleans never take the next argument. */
function takesNoArgument(option: Option): boolean {
  return option.isBoolean() || /[[<]bool[\]>]/.test(option.flags)
}

function split(arg: string): readonly [name: string, value: string | undefined] {
  const match = /^(?:--([^=]+)|-(v))(?:=(.*))?$/s.exec(arg)
  if (!match)
    throw new CommandError(`unknown command or argument ${JSON.stringify(arg)} for "kube-apiserver"`)
  return [(match[1] ?? match[2]!).replaceAll('_', '-'), match[3]]
}

function checkValue(name: string, value: string, values: readonly string[]): void {
  if (value.split(',').every(part => values.includes(part))) return
  const had = values.filter(each => each !== '')
  throw new CommandError(
    `--${name}=${value} would change the answers of kube-apiserver, and ${had.length > 0 ? `this server has only ${had.join(' or ')}` : 'this server does not have it'}; leave the flag out`,
  )
}
