import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Command } from 'commander'
import { CommandError, explainSystemError } from '../exit.ts'
import { ownCommand } from '../parent.ts'
import { fixedFlags, kubeApiserverFlags } from './kube-apiserver-flags.ts'

/** The second line of every script: a file without it is not replaced. */
const mark = '# Written by coxswain: stands in for the program of this name in tests.'

/** Writes the stand-ins into a folder and returns its path. Programs that are there already stay: then it throws. */
export function writeAssets(folder: string, program: Command): string {
  const directory = resolve(folder)
  const scripts = {
    'kube-apiserver': standIn('kube-apiserver', apiserverHelp(program)),
    etcd: standIn('etcd', etcdHelp),
    kubectl: kubectl(directory),
    'setup-envtest': `exec ${quotedCommand()} envtest "$@"\n`,
  }
  try {
    mkdirSync(directory, { recursive: true })
    for (const name of Object.keys(scripts)) refuseForeign(join(directory, name))
    for (const [name, body] of Object.entries(scripts)) {
      const file = join(directory, name)
      writeFileSync(file, `#!/bin/sh\n${mark}\n${body}`)
      chmodSync(file, 0o755)
    }
  } catch (error) {
    if (error instanceof CommandError) throw error
    throw new CommandError(`${directory}: ${explainSystemError(error)}`, { cause: error })
  }
  return directory
}

function refuseForeign(file: string): void {
  if (existsSync(file) && !readFileSync(file, 'latin1').includes(mark))
    throw new CommandError(`${file} exists and is not a stand-in: choose another folder`)
}

/** This program, as a shell runs it. */
const quotedCommand = () => ownCommand().map(quote).join(' ')

const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

/** envtest asks for the flags before each start: the shell answers that at once. */
function standIn(name: string, help: string): string {
  return [
    'if [ "$*" = "--help" ]; then',
    "cat <<'END'",
    help,
    'END',
    'exit 0',
    'fi',
    `exec ${quotedCommand()} envtest ${name} "$@"`,
    '',
  ].join('\n')
}

/** The real one, from PATH. */
function kubectl(directory: string): string {
  return [
    'IFS=:',
    'for folder in $PATH; do',
    `  if [ "$folder" != ${quote(directory)} ] && [ -x "$folder/kubectl" ]; then exec "$folder/kubectl" "$@"; fi`,
    'done',
    'echo "kubectl: there is none in PATH; install it from https://kubernetes.io/docs/tasks/tools/" >&2',
    'exit 127',
    '',
  ].join('\n')
}

function apiserverHelp(program: Command): string {
  const up = program.commands.find(command => command.name() === 'up')!
  const described = new Map(up.options.map(({ long, description }) => [long!.slice(2), description]))
  const explain = (name: string) => {
    const values = fixedFlags[name]
    if (!values) return 'accepted, without effect'
    return `must be ${values.filter(Boolean).join(' or ') || 'left out'}`
  }
  const lines = [...kubeApiserverFlags].map(
    name => `      --${name}   ${described.get(name) ?? explain(name)}`,
  )
  return [
    'coxswain in the place of kube-apiserver 1.36, on the store of its stand-in for etcd.',
    '',
    'Usage:',
    '  kube-apiserver [flags]',
    '',
    'Flags:',
    ...lines,
  ].join('\n')
}

const etcdHelp = `The stand-in for etcd: it answers /health, and the objects are stored in its data directory. It speaks no gRPC.

Usage:
  etcd [flags]

  --data-dir 'default.etcd'   where objects are stored
  --listen-client-urls 'http://localhost:2379'   where to listen; http only
  --unsafe-no-fsync 'false'   do not wait for the disk
Every other flag is accepted, without effect.`
