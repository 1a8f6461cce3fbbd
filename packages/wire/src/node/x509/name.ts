import type { PeerCertificate } from '../../message.ts'
import { decodeAll, decodeOid, decodeText, encode, oid, sequence, tag, utf8 } from './der.ts'

/** Whom a certificate is for. Kubernetes reads the common name as the user and the organizations as the groups. */
export interface SubjectName {
  readonly commonName: string
  readonly organizations?: readonly string[]
  /** The subject's uid attribute (1.3.6.1.4.1.57683.2). */
  readonly uid?: string
}

const attribute = { commonName: '2.5.4.3', organization: '2.5.4.10', uid: '1.3.6.1.4.1.57683.2' } as const

export function encodeName(name: SubjectName): Buffer {
  const sets: Buffer[] = []
  const add = (type: string, value: string) => {
    sets.push(encode(tag.set, sequence(oid(type), utf8(value))))
  }
  for (const organization of name.organizations ?? []) add(attribute.organization, organization)
  add(attribute.commonName, name.commonName)
  if (name.uid !== undefined) add(attribute.uid, name.uid)
  return sequence(...sets)
}

/** As Go's `pkix.Name` reads it: the last common name counts, organizations in their order. */
export function decodeName(content: Uint8Array): Omit<PeerCertificate, 'notAfter'> {
  let commonName = ''
  let uid: string | undefined
  const organizations: string[] = []
  for (const set of decodeAll(content)) {
    for (const pair of decodeAll(set.content)) {
      const [type, value] = decodeAll(pair.content)
      if (!type || !value) throw new RangeError('DER: a name without a value')
      const text = decodeText(value)
      switch (decodeOid(type.content)) {
        case attribute.commonName:
          commonName = text
          break
        case attribute.organization:
          organizations.push(text)
          break
        case attribute.uid:
          uid = text
          break
      }
    }
  }
  return { commonName, organizations, ...(uid !== undefined && { uid }) }
}
