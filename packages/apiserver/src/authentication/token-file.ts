import type { UserInfo } from '../request/context.ts'

/** Parses `token,user,uid,"group1,group2"` lines. Throws an Error that names the line. */
export function parseTokenFile(text: string): Map<string, UserInfo> {
  const users = new Map<string, UserInfo>()
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue
    const [token = '', name = '', uid = '', groups = ''] = splitCsv(line)
    if (token === '' || name === '') throw new Error(`line ${index + 1}: expected token,user,uid[,"groups"]`)
    users.set(token, {
      name,
      uid,
      groups: groups
        .split(',')
        .map(group => group.trim())
        .filter(Boolean),
    })
  }
  return users
}

function splitCsv(line: string): string[] {
  return [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, plain]) =>
    (quoted === undefined ? (plain ?? '') : quoted.replaceAll('""', '"')).trim(),
  )
}
