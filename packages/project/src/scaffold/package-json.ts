import { isObject } from '@coxswain/apimachinery/json'
import { ProjectError } from '../errors.ts'
import { packageJson } from './project-files.ts'

/** The author's package.json with what the scaffold needs: members that are there stay as they are. Throws `BadProject`. */
export function completePackageJson(present: string, name: string): string {
  let value: unknown
  try {
    value = JSON.parse(present)
  } catch (cause) {
    throw new ProjectError('BadProject', `package.json: ${(cause as Error).message}`, { cause })
  }
  if (!isObject(value)) throw new ProjectError('BadProject', 'package.json: is not an object')
  const scaffold = packageJson(name)
  const { scripts } = value
  // What npm init writes is not a test.
  const isPlaceholder = isObject(scripts) && /no test specified/.test(String(scripts.test))
  const given = isPlaceholder ? { ...value, scripts: { ...scripts, test: undefined } } : value
  const completed: Record<string, unknown> = { ...scaffold, ...given, type: 'module' }
  for (const member of ['scripts', 'dependencies', 'devDependencies'])
    completed[member] = { ...(scaffold[member] as object), ...withoutUndefined(given[member]) }
  return `${JSON.stringify(completed, undefined, 2)}\n`
}

function withoutUndefined(value: unknown): object {
  return isObject(value)
    ? Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined))
    : {}
}
