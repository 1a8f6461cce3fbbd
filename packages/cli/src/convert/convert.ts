import { readFileSync } from 'node:fs'
import { readYamlDocuments, writeYaml } from '@coxswain/apimachinery/yaml'
import { CommandError, explainSystemError } from '../exit.ts'
import { convertDefinition, isOldDefinition } from './convert-definition.ts'
import { collectComments, putComments } from './yaml-comments.ts'

/** Writes the documents of the files to standard output, v1beta1 CRDs as v1, and notes about them to standard error. */
export function runConvert(files: readonly string[]): void {
  const texts = files.map(readSource)
  const results = texts.map(({ file, text }) => convertFile(file, text))
  process.stdout.write(results.map(({ text }) => text).join('---\n'))
  for (const note of results.flatMap(({ notes }) => notes)) process.stderr.write(`coxswain: ${note}\n`)
}

/** Reads a file, or standard input for `-`. */
export function readSource(file: string): { readonly file: string; readonly text: string } {
  try {
    return { file, text: readFileSync(file === '-' ? 0 : file, 'utf8') }
  } catch (error) {
    throw new CommandError(`${file} ${explainSystemError(error)}`, { cause: error })
  }
}

function convertFile(
  file: string,
  text: string,
): { readonly text: string; readonly notes: readonly string[] } {
  try {
    return convertText(text)
  } catch (error) {
    throw new CommandError(`${file}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    })
  }
}

/** Everything but v1beta1 CRDs stays unchanged, byte for byte. */
export function convertText(text: string): { readonly text: string; readonly notes: readonly string[] } {
  const notes: string[] = []
  const parts = text.split(/^(---(?:[ \t].*)?(?:\r?\n|$))/m)
  let line = 0
  const converted = parts.map((part, index) => {
    const linesBefore = line
    line += part.split('\n').length - 1
    if (index % 2 === 1 || part.trim() === '') return part
    const result = convertDocument(part, linesBefore)
    if (!result) return part
    for (const note of result.notes) notes.push(note)
    return result.text
  })
  return { text: converted.join(''), notes }
}

/** `linesBefore` lines precede the document in the file: errors report the line in the file. */
function convertDocument(
  source: string,
  linesBefore: number,
): { readonly text: string; readonly notes: readonly string[] } | undefined {
  if (!source.includes('apiextensions.k8s.io/v1beta1')) return undefined
  const value: unknown = readYamlDocuments('\n'.repeat(linesBefore) + source)[0]?.value
  const notes: string[] = []
  const upgrade = (object: unknown): unknown => {
    if (!isOldDefinition(object)) return object
    const made = convertDefinition(object)
    for (const note of made.notes) notes.push(note)
    return made.object
  }
  const isList = typeof value === 'object' && value !== null && 'items' in value && Array.isArray(value.items)
  const object = isList ? { ...value, items: (value.items as unknown[]).map(upgrade) } : upgrade(value)
  if (!isList && object === value) return undefined
  if (source.trimStart().startsWith('{')) return { text: `${JSON.stringify(object, null, 2)}\n`, notes }
  const written = writeYaml(object)
  return { text: isList ? written : putComments(written, collectComments(source), movePath), notes }
}

/** The v1 path of a v1beta1 path; fields for all versions map to the first version. */
export function movePath(path: string): string {
  return path
    .replace(/^spec\.validation(?=$|\.)/, 'spec.versions[0].schema')
    .replace(/^spec\.(subresources|additionalPrinterColumns)(?=$|[.[])/, 'spec.versions[0].$1')
    .replace(/^spec\.version$/, 'spec.versions[0].name')
    .replace(/^spec\.conversion\.webhookClientConfig(?=$|\.)/, 'spec.conversion.webhook.clientConfig')
    .replace(
      /^spec\.conversion\.conversionReviewVersions/,
      'spec.conversion.webhook.conversionReviewVersions',
    )
    .replace(/\.JSONPath$/, '.jsonPath')
}
