import { type Library, overload } from '../functions.ts'

/** For mutating admission policies only. */
export const jsonPatchLibrary: Library = {
  name: 'kubernetes.jsonpatch',
  overloads: [
    overload('string_jsonpatch_escapeKey_string', 'jsonpatch.escapeKey(string): string', (key: string) =>
      key.replaceAll('~', '~0').replaceAll('/', '~1'),
    ),
  ],
}
