import { type DerElement, derTags, nameAttributes, readX509Name, type X509Name } from '@coxswain/kit/x509'
import { encode, oid, sequence, utf8 } from './der.ts'

/** The subject of a certificate. Kubernetes uses the common name as the user and the organizations as the groups. */
export interface SubjectName {
  readonly commonName: string
  readonly organizations?: readonly string[]
  /** The subject's uid attribute (1.3.6.1.4.1.57683.2). */
  readonly uid?: string
}

export function encodeName(name: SubjectName): Buffer {
  const sets: Buffer[] = []
  const add = (type: string, value: string) => {
    sets.push(encode(derTags.set, sequence(oid(type), utf8(value))))
  }
  for (const organization of name.organizations ?? []) add(nameAttributes.organization, organization)
  add(nameAttributes.commonName, name.commonName)
  if (name.uid !== undefined) add(nameAttributes.uid, name.uid)
  return sequence(...sets)
}

/** Throws a RangeError when it is malformed. */
export function decodeName(name: DerElement | undefined): X509Name {
  const read = readX509Name(name)
  if (!read) throw new RangeError('DER: malformed name')
  return read
}
