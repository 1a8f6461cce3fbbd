/** Paths with `/`, as Go's filepath package treats them. */
export function cleanPath(path: string): string {
  const isAbsolute = path.startsWith('/')
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue
    if (part === '..' && parts.length > 0 && parts.at(-1) !== '..') parts.pop()
    else if (part !== '..' || !isAbsolute) parts.push(part)
  }
  const joined = parts.join('/')
  return isAbsolute ? `/${joined}` : joined === '' ? '.' : joined
}

export const joinPath = (...parts: string[]): string => {
  const present = parts.filter(part => part !== '')
  return present.length === 0 ? '' : cleanPath(present.join('/'))
}

export const folderName = (path: string): string => path.slice(0, Math.max(path.lastIndexOf('/'), 0)) || '/'

export const baseName = (path: string): string => {
  const trimmed = path.replace(/\/+$/, '')
  return trimmed === '' ? (path === '' ? '.' : '/') : trimmed.slice(trimmed.lastIndexOf('/') + 1)
}

/** Whether a folder is another one or below it. */
export const isInside = (folder: string, other: string): boolean =>
  folder === other || folder.startsWith(other.endsWith('/') ? other : `${other}/`)
