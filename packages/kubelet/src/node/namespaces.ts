import { spawn } from 'node:child_process'
import { quote } from './spawn-group.ts'

/** Where setup looks for its programs; all of them are util-linux's but for sh, env and hostname. */
const setupPath = '/usr/sbin:/usr/bin:/sbin:/bin'
/** The timeout in milliseconds of the check whether this machine has namespaces. */
const probeLimit = 10_000

/** How containers are isolated: in kernel namespaces, or with only a directory of their own. */
export type Isolation = 'namespaces' | 'none'

/** The isolation that {@link chooseIsolation} has chosen. */
export interface ChosenIsolation {
  readonly isolation: Isolation
  /** Why there are no namespaces, although they were desired. */
  readonly obstacle?: string
}

/** What a container starts with. */
export interface ProcessSetup {
  readonly workingDir: string
  readonly env: Readonly<Record<string, string>>
  readonly user?: number
  readonly group?: number
}

export interface NamespaceSetup extends ProcessSetup {
  /** The directory that becomes the root. */
  readonly root: string
  /** The file with its mounts. */
  readonly mountTable: string
  /** @default this machine's */
  readonly hostname?: string
  /** The container has no PID namespace. */
  readonly sharesProcesses: boolean
}

const isRoot = () => process.getuid?.() === 0

/**
 * The command prefix that runs a command in new mount, PID and UTS namespaces, and for users other than root in a user namespace. It
 * writes `started` to file descriptor 3 when setup has succeeded, otherwise the error.
 */
export function inNewNamespaces(setup: NamespaceSetup): string[] {
  const { root, mountTable, hostname, sharesProcesses } = setup
  const at = quote(root)
  const script = [
    ...prelude,
    `mount --bind ${at} ${at}`,
    `mount --all --fstab ${quote(mountTable)}`,
    `mount -t tmpfs -o mode=1777,nosuid,nodev,size=64m shm ${at}/dev/shm`,
    `mount -t devpts -o newinstance,ptmxmode=0666,mode=0620,nosuid,noexec devpts ${at}/dev/pts`,
    ...(sharesProcesses ? [] : [`mount -t proc -o nosuid,nodev,noexec proc ${at}/proc`]),
    ...(hostname === undefined ? [] : [`hostname ${quote(hostname)}`]),
    `cd ${at}`,
    'pivot_root . .',
    'umount -l .',
    ...finale(setup),
  ]
  return [
    ...['/usr/bin/env', `PATH=${setupPath}`, 'unshare', '--mount', '--uts'],
    ...(sharesProcesses ? [] : ['--pid', '--fork', '--kill-child']),
    ...(isRoot() ? [] : ['--user', '--map-root-user']),
    ...['sh', '-c', script.join('\n'), 'sh'],
  ]
}

/** The same for a command in the namespaces of the process `pid`. */
export function inNamespacesOf(
  pid: number,
  { sharesProcesses }: Pick<NamespaceSetup, 'sharesProcesses'>,
  setup: ProcessSetup,
): string[] {
  const script = [...prelude, ...finale(setup)]
  return [
    ...['/usr/bin/env', `PATH=${setupPath}`, 'nsenter', '--target', String(pid), '--mount', '--uts'],
    ...(sharesProcesses ? [] : ['--pid']),
    ...(isRoot() ? [] : ['--user', '--preserve-credentials']),
    ...['sh', '-c', script.join('\n'), 'sh'],
  ]
}

/** Errors are reported, not printed. */
const prelude = ['set -e', 'exec 4>&2 2>&3']

/** Sets no variables, since the command would inherit them. */
function finale({ workingDir, env, user, group }: ProcessSetup): string[] {
  // Shells drop variables whose names they could not use.
  const unusual = Object.entries(env).filter(([name]) => !/^[A-Za-z_]\w*$/.test(name))
  const become = isRoot() && (user !== undefined || group !== undefined)
  const words = [
    ...(unusual.length > 0
      ? ['/usr/bin/env', ...unusual.map(([name, value]) => quote(`${name}=${value}`))]
      : []),
    ...(become ? ['/usr/bin/setpriv', '--clear-groups'] : []),
    ...(become && user !== undefined ? [`--reuid=${user}`] : []),
    ...(become && group !== undefined ? [`--regid=${group}`] : []),
    ...(become ? ['--'] : []),
  ]
  return [
    `cd ${quote(workingDir)}`,
    'unset OLDPWD',
    `PATH=${quote(env.PATH ?? '')}`,
    'command -v "$1" >/dev/null || { echo missing >&3; exit 127; }',
    'exec 2>&4 4>&-',
    'echo started >&3',
    'exec 3>&-',
    `exec ${words.join(' ')} "$@"`,
  ]
}

/** Undefined when this machine has namespaces for containers, otherwise the reason. Tries the calls that containers need. */
async function findObstacle(): Promise<string | undefined> {
  if (process.platform !== 'linux') return `${process.platform} has none`
  const script = [
    'set -e',
    'mount --bind /usr /mnt',
    'mount -t proc proc /proc',
    'hostname probe',
    'command -v pivot_root nsenter setpriv >/dev/null',
  ]
  const words = ['--mount', '--uts', '--pid', '--fork', '--kill-child']
  if (!isRoot()) words.push('--user', '--map-root-user')
  return await new Promise(resolve => {
    const child = spawn('unshare', [...words, 'sh', '-c', script.join('\n')], {
      env: { PATH: setupPath },
      stdio: ['ignore', 'ignore', 'pipe'],
      timeout: probeLimit,
    })
    let text = ''
    child.stderr.on('data', chunk => {
      text = (text + chunk).slice(0, 1_000)
    })
    child.on('error', error => resolve(error.message))
    child.on('close', code => resolve(code === 0 ? undefined : text.trim() || `unshare ended with ${code}`))
  })
}

/** The isolation to use: `auto` means namespaces where this machine has them. @throws Error when namespaces are required and unavailable */
export async function chooseIsolation(desired: Isolation | 'auto'): Promise<ChosenIsolation> {
  if (desired === 'none') return { isolation: 'none' }
  const obstacle = await findObstacle()
  if (obstacle === undefined) return { isolation: 'namespaces' }
  if (desired === 'namespaces') throw new Error(`namespaces are not available on this machine: ${obstacle}`)
  return { isolation: 'none', obstacle }
}
