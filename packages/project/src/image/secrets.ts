import { decodeText } from '@coxswain/kit'

/** Folders that are never in an image: history, caches, and where programs keep credentials. */
const folders = new Set([
  '.git',
  '.hg',
  '.svn',
  '.coxswain',
  '.kube',
  '.docker',
  '.ssh',
  '.aws',
  '.azure',
  '.gnupg',
])

/** Names of files that hold credentials. */
const names =
  /^(\.env(\..*)?|\.npmrc|\.yarnrc\.yml|\.netrc|\.git-credentials|kubeconfig|.*\.kubeconfig|id_(rsa|dsa|ecdsa|ed25519)|\.DS_Store)$/

/** Files that only look like the ones above. */
const harmless = /^\.env\.(example|sample|template)$/

/** Whether a file or folder of this name stays out of every image, whatever the ignore files say. */
export function isNeverIncluded(name: string, kind: 'file' | 'folder'): boolean {
  return kind === 'folder' ? folders.has(name) : names.test(name) && !harmless.test(name)
}

/** How much of a file `describeSecret` has to see. */
export const secretPrefix: number = 64 * 1024

/** Sources may quote keys and kubeconfigs, as tests and documents do; files that programs read as such have other names. */
const sources = /\.(?:[cm]?[jt]sx?|md|map|html|css)$/

/** Whether a file of this name is searched by `describeSecret`. */
export const mayBeSecret = (name: string): boolean => !sources.test(name)

/** What secret the beginning of a file has: a private key, or a kubeconfig with credentials; undefined when none is seen. */
export function describeSecret(beginning: Uint8Array): string | undefined {
  const text = decodeText(beginning)
  if (/-----BEGIN (?:[A-Z]+ ){0,3}PRIVATE KEY-----/.test(text)) return 'a private key'
  const isKubeconfig = /^[\s{]*["']?kind["']?:\s*["']?Config\b/m.test(text) || /"kind":\s*"Config"/.test(text)
  if (isKubeconfig && /\b(?:client-key-data|token|password)["']?:\s*\S/.test(text))
    return 'a kubeconfig with credentials'
  return undefined
}
