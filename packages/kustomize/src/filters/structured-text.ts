import { KustomizeError } from '../errors.ts'

/**
 * Refuses YAML text with comments, which a replacement inside it would have to keep. Quoted number signs count too: better to refuse
 * than to lose a comment.
 */
export function refuseComments(text: string): void {
  if (/(^|\s)#/m.test(text))
    throw new KustomizeError(
      'NotSupported',
      'a replacement inside YAML text with comments is not supported; remove the comments from the text',
    )
}
