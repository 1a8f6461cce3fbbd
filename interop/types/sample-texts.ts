const entities: Readonly<Record<string, string>> = { quot: '"', amp: '&', lt: '<', gt: '>', '#39': "'" }

/** The YAML in a file: the whole file, or the YAML blocks of a Markdown or HTML page. */
export function sampleTexts(path: string, text: string): string[] {
  if (path.endsWith('.md')) return [...text.matchAll(/^```ya?ml\n(.*?)^```/gms)].map(([, block]) => block!)
  if (!path.endsWith('.html')) return [text]
  return [...text.matchAll(/<code class="language-yaml">(.*?)<\/code>/gs)].map(([, block]) =>
    block!.replaceAll(/&([#\w]+);/g, (entity, name: string) => entities[name] ?? entity),
  )
}
