import { ProjectError } from '../errors.ts'

/** Throws `BadPath` for a path that could lead out of the project's folder. */
export function checkPath(path: string): void {
  const parts = path.split('/')
  if (/[\\\0]/.test(path) || parts.some(part => part === '' || part === '.' || part === '..'))
    throw new ProjectError('BadPath', `${JSON.stringify(path)} is not a path relative to the project`)
}
