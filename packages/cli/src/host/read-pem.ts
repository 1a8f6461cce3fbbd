import { readBoundedFile } from './flag-file.ts'

/** A certificate or key as configuration files have it: base64 in the file itself, or the path of another one. */
export function readPem(data: string | undefined, file: string | undefined): string | undefined {
  if (data) return Buffer.from(data, 'base64').toString('utf8')
  return file ? readBoundedFile(file) : undefined
}
